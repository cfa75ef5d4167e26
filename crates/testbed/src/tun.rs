// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TUN device: what a namespace sends out of it is read here, what is written here arrives there. One IP packet a call.
#![expect(unsafe_code)]

use std::{
    fs::OpenOptions,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::OpenOptionsExt,
    },
};

use linux_raw_sys::{
    if_tun::{IFF_NO_PI, IFF_TUN},
    ioctl::TUNSETIFF,
    net::ifreq,
};
use rustix::{
    fs::OFlags,
    ioctl::{Opcode, Updater, ioctl},
};

use crate::{
    error::{Doing, Error},
    netlink::{LinkSettings, Netlink},
};

/// Packets that the device holds between the kernel and us. A full one would drop unseen by any queue of ours: such drops are
/// counted, and are a doubt. Debian's 6.1 takes no more than some 20 000, hence the second; the last is a device's default.
const TX_QUEUE_PACKETS: [u32; 3] = [100_000, 10_000, 500];

#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    index: u32,
}

impl Tun {
    /// Makes a device in the calling thread's namespace; it goes when this is dropped.
    ///
    /// `mtu` in bytes. Segmentation offloads are off: what is read is what a wire would carry.
    pub fn new(netlink: &mut Netlink, name: &str, mtu: u32) -> Result<Self, Error> {
        let path = "/dev/net/tun";
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(path)
            .doing(format!("open `{path}`"))?;
        // SAFETY: an ifreq consists of integers and pointers, for which all bits 0 are a value.
        let mut request: ifreq = unsafe { std::mem::zeroed() };
        request.ifr_ifru.ifru_flags = (IFF_TUN | IFF_NO_PI) as i16;
        // SAFETY: the name is the union's only field, and has been initialised with zeros.
        let field = unsafe { &mut request.ifr_ifrn.ifrn_name };
        // The last byte stays 0: it ends the name.
        let last = field.len() - 1;
        for (to, from) in field[..last].iter_mut().zip(name.bytes()) {
            *to = from as _;
        }
        // SAFETY: TUNSETIFF reads and writes an ifreq whose name ends with a zero.
        unsafe { ioctl(&file, Updater::<{ TUNSETIFF as Opcode }, _>::new(&mut request)) }
            .doing(format!("make the device `{name}`"))?;
        let index = netlink.index_of(name)?;
        let mut set_up = |tx_queue_packets| {
            netlink.bring_up(index, Some(LinkSettings { mtu, tx_queue_packets, gso_max_segments: 1 }))
        };
        let [most, fewer, least] = TX_QUEUE_PACKETS;
        set_up(most).or_else(|_| set_up(fewer)).or_else(|_| set_up(least))?;
        Ok(Self { fd: file.into(), index })
    }

    /// For tests: anything that can be read and written, in place of a device.
    #[cfg(test)]
    pub fn of(fd: OwnedFd) -> Self {
        Self { fd, index: 0 }
    }

    pub fn index(&self) -> u32 {
        self.index
    }

    /// The next packet that the namespace has sent; `None` if there is none.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.fd, buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(rustix::io::Errno::AGAIN) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Lets a packet arrive in the namespace. It has gone through the namespace's TCP when this returns.
    #[inline]
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        rustix::io::write(&self.fd, packet).map(drop).map_err(Into::into)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
