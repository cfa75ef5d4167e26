// SPDX-License-Identifier: MIT OR Apache-2.0
//! New connections for short flows, made while the run goes on and through the path, like everything else.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
};

use linux_raw_sys::net::tcp_info;

use crate::socket::{connect_later, read_tcp_info};

/// Makes the next connection of a flow as soon as a transfer has ended, so that it is there when the next one comes. Should that be sooner,
/// the transfer waits for it.
pub struct Renewal {
    listener: TcpListener,
    congestion_control: String,
    from: IpAddr,
    to: SocketAddr,
    /// The sender of the connection that is being made.
    pending: Option<TcpStream>,
    /// What the connections before counted.
    pub past: Past,
}

/// What connections that have ended counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Past {
    pub sent_packets: u64,
    pub retransmits: u64,
    pub timeouts: u64,
    pub received_packets: u64,
}

impl Past {
    fn add(&mut self, sender: &tcp_info, receiver: &tcp_info) {
        self.sent_packets += u64::from(sender.tcpi_data_segs_out);
        self.retransmits += u64::from(sender.tcpi_total_retrans);
        self.timeouts += u64::from(sender.tcpi_total_rto);
        self.received_packets += u64::from(receiver.tcpi_data_segs_in);
    }
}

impl Renewal {
    /// Of connections from one address to that of `listener`, which has accepted the first.
    pub fn new(listener: TcpListener, congestion_control: &str, from: IpAddr, to: SocketAddr) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let congestion_control = congestion_control.to_owned();
        Ok(Self { listener, congestion_control, from, to, pending: None, past: Past::default() })
    }

    /// Begins a new connection. To be called in the senders' namespace.
    pub fn begin(&mut self) -> io::Result<()> {
        self.pending = Some(connect_later(&self.congestion_control, SocketAddr::new(self.from, 0), self.to)?);
        Ok(())
    }

    /// Is a connection being made?
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// The sender and the receiver of the new connection once there is one, in the place of `old`.
    pub fn poll(&mut self, old: (&TcpStream, &TcpStream)) -> io::Result<Option<(TcpStream, TcpStream)>> {
        let receiver = match self.listener.accept() {
            Ok((receiver, _)) => receiver,
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted) => {
                return Ok(None);
            }
            Err(e) => return Err(e),
        };
        self.past.add(&read_tcp_info(old.0)?, &read_tcp_info(old.1)?);
        Ok(self.pending.take().map(|sender| (sender, receiver)))
    }
}
