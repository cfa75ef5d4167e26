// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options that the standard library has no call for.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    os::fd::{AsFd, AsRawFd},
};

use linux_raw_sys::net::tcp_info;
use rustix::net::{AddressFamily, SocketType, bind, connect, listen, socket, sockopt};

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

/// Switches on TCP's own pacing: a limit that is never reached.
pub fn set_paced(socket: impl AsFd) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u64::MAX - 1)
}

fn set_buffers(socket: impl AsFd) -> io::Result<()> {
    sockopt::set_socket_send_buffer_size_force(&socket, BUFFER_BYTES)?;
    sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES)?;
    Ok(())
}

/// Listens in the calling thread's namespace, for one connection.
pub fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    // Before listening: the window scale of a connection follows from it (RFC 7323).
    set_buffers(&listener)?;
    bind(&listener, &address)?;
    listen(&listener, 1)?;
    Ok(listener.into())
}

/// Connects in the calling thread's namespace with the named congestion control.
pub fn connect_with(congestion_control: &str, from: SocketAddr, to: SocketAddr) -> io::Result<TcpStream> {
    let stream = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    set_buffers(&stream)?;
    sockopt::set_tcp_congestion(&stream, congestion_control)?;
    bind(&stream, &from)?;
    connect(&stream, &to)?;
    Ok(stream.into())
}
