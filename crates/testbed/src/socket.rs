// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options that the standard library has no call for.
#![expect(unsafe_code)]

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    os::fd::{AsFd, AsRawFd},
};

use linux_raw_sys::net::tcp_info;
use rustix::{
    io::Errno,
    net::{AddressFamily, SocketType, bind, connect, listen, socket, sockopt},
};

/// More than any window here: buffers must not be what limits a flow.
const BUFFER_BYTES: usize = 1 << 29;

/// What the kernel tells of a connection; zero where this kernel is too old to tell.
pub fn read_tcp_info(socket: impl AsFd) -> io::Result<tcp_info> {
    // SAFETY: plain integers, for which all bits zero is a value.
    let mut info: tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    let status = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if status == 0 { Ok(info) } else { Err(io::Error::last_os_error()) }
}

/// Has the kernel tell when each packet arrived.
pub fn stamp_arrivals(socket: impl AsFd) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1i32)
}

/// A packet that has been received.
pub struct Arrival {
    /// How many bytes of it fitted the buffer.
    pub bytes: usize,
    /// When it arrived, ns of the real-time clock; `None` if the kernel did not say.
    pub at: Option<u64>,
}

/// Takes a packet from a socket with [`stamp_arrivals`], with as much of it as `buffer` holds; `None` if there is none.
pub fn receive_stamped(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Option<Arrival>> {
    // More than the one message needs, and aligned as its header must be.
    let mut control = [0u64; 8];
    let mut place = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: plain integers and pointers, for which all bits zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut place;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the kernel writes to `buffer` and `control`, as many bytes as they have, and both outlive the call.
    let received = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    if received < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
    }
    Ok(Some(Arrival { bytes: received as usize, at: stamp(&message) }))
}

fn stamp(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled in the control messages, whose memory is still there.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    if (header.cmsg_level, header.cmsg_type) != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
        return None;
    }
    // SAFETY: a message of this type is a timespec, perhaps not aligned as such.
    let at = unsafe { libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned() };
    Some(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// An option whose value is a 32-bit integer.
pub fn set_u32(socket: impl AsFd, level: i32, option: i32, value: u32) -> io::Result<()> {
    set(socket, level, option, value)
}

/// An option whose value is a plain integer.
fn set<T: Copy>(socket: impl AsFd, level: i32, option: i32, value: T) -> io::Result<()> {
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel reads as many bytes as it is told.
    let status =
        unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), size_of::<T>() as libc::socklen_t) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// How much the other end may have under way. To be called before listening, and again when the first data has come: Linux 6.6 and later forget it
/// when they learn how much memory a packet takes.
pub fn set_window(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    set_u32(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// Switches on TCP's own pacing: a limit that is never reached.
pub fn set_paced(socket: impl AsFd) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u64::MAX - 1)
}

fn set_buffers(socket: impl AsFd) -> io::Result<()> {
    sockopt::set_socket_send_buffer_size_force(&socket, BUFFER_BYTES)?;
    sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES)?;
    Ok(())
}

/// Listens in the calling thread's namespace, for one connection, which may have `window_bytes` under way.
pub fn listen_on(address: SocketAddr, window_bytes: u32) -> io::Result<TcpListener> {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    // Before listening: the window scale of a connection follows from it (RFC 7323).
    set_buffers(&listener)?;
    set_window(&listener, window_bytes)?;
    bind(&listener, &address)?;
    listen(&listener, 1)?;
    Ok(listener.into())
}

/// Connects in the calling thread's namespace with the named congestion control.
pub fn connect_with(congestion_control: &str, from: SocketAddr, to: SocketAddr) -> io::Result<TcpStream> {
    let stream = unconnected(congestion_control, from)?;
    connect(&stream, &to)?;
    Ok(stream)
}

/// The same, but does not wait until it is connected.
pub fn connect_later(congestion_control: &str, from: SocketAddr, to: SocketAddr) -> io::Result<TcpStream> {
    let stream = unconnected(congestion_control, from)?;
    stream.set_nonblocking(true)?;
    match connect(&stream, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(stream),
        Err(e) => Err(e.into()),
    }
}

fn unconnected(congestion_control: &str, from: SocketAddr) -> io::Result<TcpStream> {
    let stream = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    set_buffers(&stream)?;
    sockopt::set_tcp_congestion(&stream, congestion_control)?;
    bind(&stream, &from)?;
    Ok(stream.into())
}
