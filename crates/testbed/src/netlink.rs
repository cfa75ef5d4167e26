// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices and routes of the calling thread's namespace, over rtnetlink (RFC 3549).

use std::{io, net::Ipv4Addr};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    address::{AddressAttribute, AddressMessage},
    link::{LinkAttribute, LinkFlags, LinkMessage, Stats64},
    route::{
        RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
    },
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use crate::error::{Doing, Error};

/// Large enough for the description of one device.
const REPLY_BYTES: usize = 64 << 10;

/// IPv4 addresses with the same first `length` bits.
#[derive(Debug, Clone, Copy)]
pub struct Prefix {
    pub address: Ipv4Addr,
    pub length: u8,
}

pub struct LinkSettings {
    /// Bytes.
    pub mtu: u32,
    pub tx_queue_packets: u32,
    /// Segments that TCP may hand to the device in one piece.
    pub gso_max_segments: u32,
}

pub struct Netlink {
    socket: Socket,
}

impl Netlink {
    pub fn new() -> Result<Self, Error> {
        let mut socket = Socket::new(NETLINK_ROUTE).doing("open a netlink socket")?;
        socket.bind_auto().doing("bind a netlink socket")?;
        socket.connect(&SocketAddr::new(0, 0)).doing("reach the kernel over netlink")?;
        Ok(Self { socket })
    }

    /// The number of the device with this name.
    pub fn index_of(&mut self, name: &str) -> Result<u32, Error> {
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::IfName(name.to_owned()));
        Ok(self.link(message).doing(format!("find the device `{name}`"))?.header.index)
    }

    /// What the device has counted so far.
    pub fn stats(&mut self, index: u32) -> Result<Stats64, Error> {
        let what = format!("read the counters of device {index}");
        let mut message = LinkMessage::default();
        message.header.index = index;
        let attributes = self.link(message).doing(&*what)?.attributes;
        let stats = attributes.into_iter().find_map(|a| if let LinkAttribute::Stats64(s) = a { Some(s) } else { None });
        stats.ok_or_else(|| io::Error::other("the kernel told none")).doing(what)
    }

    fn link(&mut self, message: LinkMessage) -> io::Result<LinkMessage> {
        match self.ask(RouteNetlinkMessage::GetLink(message), NLM_F_REQUEST)? {
            Some(RouteNetlinkMessage::NewLink(link)) => Ok(link),
            _ => Err(io::Error::other("the kernel gave no answer")),
        }
    }

    /// Switches a device on.
    pub fn bring_up(&mut self, index: u32, settings: Option<LinkSettings>) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        if let Some(LinkSettings { mtu, tx_queue_packets, gso_max_segments }) = settings {
            message.attributes = vec![
                LinkAttribute::Mtu(mtu),
                LinkAttribute::TxQueueLen(tx_queue_packets),
                LinkAttribute::GsoMaxSegs(gso_max_segments),
            ];
        }
        self.ask(RouteNetlinkMessage::SetLink(message), NLM_F_REQUEST | NLM_F_ACK)
            .doing(format!("set up device {index}"))?;
        Ok(())
    }

    /// For tests: takes a device away, as anybody with the right to may do at any time.
    #[cfg(test)]
    pub fn remove(&mut self, index: u32) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        self.ask(RouteNetlinkMessage::DelLink(message), NLM_F_REQUEST | NLM_F_ACK)
            .doing(format!("take device {index} away"))?;
        Ok(())
    }

    /// Gives a device an address and one that lies at its other end, with the route there.
    pub fn add_address(&mut self, device: u32, own: Ipv4Addr, peer: Ipv4Addr) -> Result<(), Error> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.header.index = device;
        message.attributes = vec![AddressAttribute::Local(own.into()), AddressAttribute::Address(peer.into())];
        let flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        self.ask(RouteNetlinkMessage::NewAddress(message), flags).doing(format!("add the address {own}"))?;
        Ok(())
    }

    /// Makes every address of a prefix one of this namespace's own.
    pub fn add_local(&mut self, prefix: Prefix) -> Result<(), Error> {
        let lo = self.index_of("lo")?;
        let header = RouteHeader {
            table: libc::RT_TABLE_LOCAL,
            scope: RouteScope::Host,
            kind: RouteType::Local,
            ..RouteHeader::default()
        };
        self.add(header, prefix, lo, Vec::new())
    }

    /// Sends packets for a prefix out of a device.
    pub fn add_route(&mut self, prefix: Prefix, device: u32, metrics: Vec<RouteMetric>) -> Result<(), Error> {
        let header = RouteHeader {
            table: RouteHeader::RT_TABLE_MAIN,
            scope: RouteScope::Link,
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        self.add(header, prefix, device, metrics)
    }

    fn add(&mut self, header: RouteHeader, to: Prefix, device: u32, metrics: Vec<RouteMetric>) -> Result<(), Error> {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: AddressFamily::Inet,
            destination_prefix_length: to.length,
            protocol: RouteProtocol::Static,
            ..header
        };
        message.attributes = vec![RouteAttribute::Oif(device)];
        if to.length > 0 {
            message.attributes.push(RouteAttribute::Destination(RouteAddress::Inet(to.address)));
        }
        if !metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        let flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        self.ask(RouteNetlinkMessage::NewRoute(message), flags)
            .doing(format!("add a route to {}/{}", to.address, to.length))?;
        Ok(())
    }

    /// Sends one request; its answer, if it is more than "done".
    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<Option<RouteNetlinkMessage>> {
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let mut reply = Vec::with_capacity(REPLY_BYTES);
        self.socket.recv(&mut reply, 0)?;
        let reply = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&reply).map_err(io::Error::other)?;
        match reply.payload {
            NetlinkPayload::InnerMessage(answer) => Ok(Some(answer)),
            NetlinkPayload::Error(e) if e.code.is_some() => Err(e.to_io()),
            _ => Ok(None),
        }
    }
}
