// SPDX-License-Identifier: MIT OR Apache-2.0
//! Listening TCP sockets and their controllers, over sock_diag(7): a connection that one accepts has the listener's controller.

use std::{io, net::SocketAddr};

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::{
    SockDiagMessage,
    constants::{AF_INET, AF_INET6, IPPROTO_TCP},
    inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags, nlas::Nla},
};
use netlink_sys::{Socket, SocketAddr as NetlinkAddr, protocols::NETLINK_SOCK_DIAG};
use serde::Serialize;

/// A socket that waits for connections.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Listener {
    /// The network namespace: empty for the caller's own, otherwise its name in `ip netns`, or `pid N`.
    pub namespace: String,
    /// The address and port that it listens on.
    pub address: SocketAddr,
}

/// The listeners that use the controller in the calling thread's namespace.
///
/// # Errors
/// If the kernel does not tell (no `tcp_diag`).
pub(crate) fn addresses(controller: &str) -> io::Result<Vec<SocketAddr>> {
    let mut found = Vec::new();
    for (family, any) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        dump(family, any, |response| {
            if response.nlas.iter().any(|nla| matches!(nla, Nla::Congestion(name) if name == controller)) {
                let id = &response.header.socket_id;
                found.push(SocketAddr::new(id.source_address, id.source_port));
            }
        })?;
    }
    Ok(found)
}

/// Asks for each listening socket of a family.
fn dump(family: u8, socket_id: SocketId, mut each: impl FnMut(&InetResponse)) -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&NetlinkAddr::new(0, 0))?;
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::CONG,
        states: StateFlags::LISTEN,
        socket_id,
    };
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    loop {
        let (reply, _) = socket.recv_from_full()?;
        let mut rest = &reply[..];
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => each(&response),
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::Error(e) => return Err(e.to_io()),
                _ => {}
            }
            // Each message begins at a multiple of four bytes.
            let length = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(length.max(4)..).unwrap_or_default();
        }
    }
}
