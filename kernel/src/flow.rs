// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections as the iterator `flows` of `bpf/controller.bpf.c` reports them.
#![expect(unsafe_code)]

use std::{
    fs::File,
    io::{self, Read},
    mem::size_of,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use serde::Serialize;
use tandem_controllers::View;

use crate::{Error, bpffs, netns::Namespace};

/// A TCP connection that uses a Tandem controller: `struct tandem_flow` of `bpf/flow.h`. `tests/layout.rs` compares the two.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    // Public for the layout test only: see `local` and `remote`.
    #[doc(hidden)]
    pub local_addr: [u8; 16],
    #[doc(hidden)]
    pub remote_addr: [u8; 16],
    #[doc(hidden)]
    pub local_port: u16,
    #[doc(hidden)]
    pub remote_port: u16,
    #[doc(hidden)]
    pub family: u16,
    #[doc(hidden)]
    pub state: u16,
    /// The congestion window, packets.
    pub snd_cwnd: u32,
    /// The slow-start threshold, packets.
    pub snd_ssthresh: u32,
    /// Packets sent and not yet acknowledged cumulatively.
    pub packets_out: u32,
    /// Bytes of a full segment's payload.
    pub mss: u32,
    /// Smoothed RTT, microseconds.
    pub srtt_us: u32,
    /// Packets lost since the connection began.
    pub lost: u32,
    /// Packets retransmitted since the connection began.
    pub retransmitted: u32,
    #[doc(hidden)]
    pub pacing: u32,
    /// The controller's own values.
    pub view: View,
    /// Bytes acknowledged since the connection began.
    pub bytes_acked: u64,
    #[doc(hidden)]
    pub pacing_bytes_per_s: u64,
}

/// What paces a connection's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum Pacer {
    /// The socket's own timer.
    Socket = 1,
    /// The queueing discipline `fq`.
    Fq = 2,
}

const AF_INET: u16 = 2;
const TCP_SYN_SENT: u16 = 2;
const TCP_SYN_RECV: u16 = 3;

impl Flow {
    /// Whether the handshake is complete.
    pub fn is_connected(&self) -> bool {
        self.state != TCP_SYN_SENT && self.state != TCP_SYN_RECV
    }

    /// The address and port on this machine.
    pub fn local(&self) -> SocketAddr {
        SocketAddr::new(self.ip(self.local_addr), self.local_port)
    }

    /// The address and port of the other end.
    pub fn remote(&self) -> SocketAddr {
        SocketAddr::new(self.ip(self.remote_addr), self.remote_port)
    }

    /// What paces it, and at which rate, bytes of payload a second; `None` if nothing does.
    pub fn pacing(&self) -> Option<(Pacer, u64)> {
        // `enum tandem_pacing` of `bpf/flow.h`.
        let pacer = [Pacer::Socket, Pacer::Fq].into_iter().find(|&pacer| pacer as u32 == self.pacing)?;
        Some((pacer, self.pacing_bytes_per_s))
    }

    fn ip(&self, bytes: [u8; 16]) -> IpAddr {
        match self.family {
            AF_INET => Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into(),
            // An IPv4 connection on an IPv6 socket shows as IPv4.
            _ => Ipv6Addr::from(bytes).to_canonical(),
        }
    }
}

/// The connections of one namespace that use the loaded controller `name`; none if the namespace has ended.
///
/// # Errors
/// [`Error::NoRights`] without the rights to read them; [`Error::Io`] if no such controller is loaded.
pub fn read_flows(namespace: &Namespace, name: &str) -> Result<Vec<Flow>, Error> {
    namespace.enter(|| flows_here(name))?.unwrap_or_else(|| Ok(Vec::new()))
}

/// Those of the calling thread's namespace.
///
/// # Errors
/// As [`read_flows`].
pub(crate) fn flows_here(name: &str) -> Result<Vec<Flow>, Error> {
    let path = bpffs::controller(name).join("flows");
    File::open(&path).and_then(read).map_err(|e| match e.kind() {
        io::ErrorKind::PermissionDenied => Error::NoRights { what: "read the TCP connections" },
        _ => Error::io("read", path, e),
    })
}

/// The first of those, at most this many.
pub(crate) fn some_flows_here(name: &str, most: usize) -> io::Result<Vec<Flow>> {
    let file = File::open(bpffs::controller(name).join("flows"))?;
    read(file.take((most * size_of::<Flow>()) as u64))
}

/// Whole records until the end.
pub(crate) fn read(mut from: impl Read) -> io::Result<Vec<Flow>> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    // SAFETY: any bit pattern is a valid Flow, a chunk has the size of one, and the read allows any alignment.
    let flow = |chunk: &[u8]| unsafe { chunk.as_ptr().cast::<Flow>().read_unaligned() };
    Ok(bytes.chunks_exact(size_of::<Flow>()).map(flow).collect())
}
