// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes over TCP, and whether they arrive as they were sent.
#![expect(unsafe_code)]

use std::{
    io::{self, Read, Write},
    mem::size_of,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    os::fd::AsRawFd,
    thread,
};

use blake3::{Hash, Hasher};
use rustix::net::{AddressFamily, SocketType, connect as connect_socket, socket, sockopt::set_tcp_congestion};
use tandem_testing::PATIENCE;

use super::Space;

const BLOCK_BYTES: u64 = 1 << 20;

/// A connection whose controller is `name` from its first packet on. To be called inside a namespace.
pub fn connect(name: &str, to: SocketAddr) -> io::Result<TcpStream> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket(family, SocketType::STREAM, None)?;
    set_tcp_congestion(&socket, name)?;
    connect_socket(&socket, &to)?;
    Ok(TcpStream::from(socket))
}

/// Both ends of a connection from one namespace to an address in another; the first end has the controller `name`.
pub fn connected(name: &str, from: &Space, to: &Space, address: &str) -> (TcpStream, TcpStream) {
    let listener = to.enter(|| TcpListener::bind((address, 0))).unwrap();
    let target = listener.local_addr().unwrap();
    let near = from.enter(|| connect(name, target)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let far = listener.accept().unwrap().0;
    for end in [&near, &far] {
        end.set_read_timeout(Some(PATIENCE)).unwrap();
        end.set_write_timeout(Some(PATIENCE)).unwrap();
    }
    (near, far)
}

/// Sends `bytes` and ends the connection's sending side; `after` hears of each mebibyte how many bytes have been sent.
pub fn send(stream: &TcpStream, bytes: u64, mut after: impl FnMut(u64)) -> Hash {
    let mut hasher = Hasher::new();
    let mut block = vec![0; BLOCK_BYTES as usize];
    Hasher::new().update(b"any bytes").finalize_xof().fill(&mut block);
    let mut sent = 0;
    while sent < bytes {
        // No two blocks are the same: one that arrives twice, or in another's place, shows.
        block[..8].copy_from_slice(&sent.to_le_bytes());
        let part = &block[..BLOCK_BYTES.min(bytes - sent) as usize];
        hasher.update(part);
        (&*stream).write_all(part).expect("the connection holds");
        sent += part.len() as u64;
        after(sent);
    }
    stream.shutdown(Shutdown::Write).unwrap();
    hasher.finalize()
}

/// All that arrives: how many bytes, and their hash.
pub fn receive(mut stream: &TcpStream) -> (u64, Hash) {
    let mut hasher = Hasher::new();
    let mut block = vec![0; BLOCK_BYTES as usize];
    let mut received = 0;
    loop {
        let count = stream.read(&mut block).expect("the connection holds");
        if count == 0 {
            return (received, hasher.finalize());
        }
        hasher.update(&block[..count]);
        received += count as u64;
    }
}

/// Sends `bytes` from one end to the other, and asserts that they arrive as they were sent.
pub fn transfer((near, far): &(TcpStream, TcpStream), bytes: u64, after: impl FnMut(u64)) {
    let (sent, (count, received)) = thread::scope(|scope| {
        let _hang_up = HangUp(near);
        let receiver = scope.spawn(|| receive(far));
        (send(near, bytes, after), receiver.join().unwrap())
    });
    assert_eq!(count, bytes);
    assert_eq!(received, sent, "what arrives is not what was sent");
}

/// Else the receiver waits for ever for a sender that fails.
struct HangUp<'a>(&'a TcpStream);

impl Drop for HangUp<'_> {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// TCP_INFO: what the kernel itself says of a connection.
pub fn info(stream: &TcpStream) -> libc::tcp_info {
    // SAFETY: a plain structure of integers, for which all bits zero is a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    let (to, fd) = ((&raw mut info).cast(), stream.as_raw_fd());
    // SAFETY: the kernel writes at most `length` bytes.
    let status = unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, to, &mut length) };
    assert_eq!(status, 0, "{}", io::Error::last_os_error());
    info
}
