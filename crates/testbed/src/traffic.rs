// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows: what their applications send and when, over real sockets.
//!
//! One thread looks after all TCP sockets at each tick. Nothing waits on a socket, so the kernel wakes nobody for a packet:
//! the CPU is the emulator's.

use std::{
    io,
    mem::MaybeUninit,
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    os::fd::AsFd,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvFlags, SendFlags, recv, send, sockopt},
};
use tandem_engine::{Applications, Due, Transfers};
use tandem_scenario::{Group, Scenario, TcpSource};

use crate::{
    addresses::Address,
    controllers::Controllers,
    error::{Doing, Error},
    lab::Lab,
    path::End,
    receive_window::window_bytes,
    renewal::{Past, Renewal},
    socket::{connect_with, listen_on, read_tcp_info, set_paced, set_u32, set_window},
    udp::{UdpReceiver, UdpSender},
};

/// Between two looks at the sockets.
pub const TICK_NS: u64 = 1_000_000;
/// A socket holds what the fastest link carries in this many ticks, so that TCP never lacks data.
pub const BACKLOG_TICKS: u64 = 8;
const PORT: u16 = 5001;
/// Written or read at a time: TCP processes no ACK of a flow meanwhile.
const CHUNK_BYTES: usize = 32 << 10;
/// More than arrives between two looks, however late the second.
const MAX_UNREAD_BYTES: u32 = 1 << 28;
/// The least that waits to be sent.
const MIN_BACKLOG_BYTES: u64 = 64 << 10;

/// A flow with its two sockets.
pub struct Flow {
    pub kind: Kind,
    /// Payload that has arrived, bytes.
    pub received_bytes: u64,
}

pub enum Kind {
    Tcp(Box<Tcp>),
    Udp(Box<Udp>),
}

pub struct Tcp {
    pub sender: TcpStream,
    pub receiver: TcpStream,
    /// In bytes.
    pub transfers: Transfers,
    /// Bytes of the transfer that the socket has not yet taken; `u64::MAX` if it is endless.
    remaining: u64,
    backlog_bytes: u32,
    window_bytes: u32,
    /// Whether data has come over this connection.
    has_received: bool,
    is_paced: bool,
    /// For short flows.
    renewal: Option<Box<Renewal>>,
}

pub struct Udp {
    /// Taken by the thread that sends.
    pub sender: Option<UdpSender>,
    pub sent_packets: Arc<AtomicU64>,
    pub receiver: UdpReceiver,
    payload_bytes: u32,
}

/// What a flow needs to be connected.
struct Plan {
    group: usize,
    sender: SocketAddr,
    receiver: SocketAddr,
}

/// A socket that waits for its peer.
enum Receiver {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

/// Makes every flow's sockets and connects them through the path, which is not yet limited. One after the other takes a round
/// trip each: `None` if `goes_on` said no meanwhile.
pub fn connect(
    scenario: &Scenario,
    seed: u64,
    lab: &Lab,
    controllers: &Controllers,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Vec<Flow>>, Error> {
    let plans = plans(scenario);
    let source = |plan: &Plan| &scenario.groups[plan.group].source;
    let receivers = lab.namespaces[End::Receivers as usize].enter(|| {
        let receiver = |plan: &Plan| match source(plan).tcp() {
            Some(tcp) => {
                let window = window_bytes(scenario, &scenario.groups[plan.group], tcp);
                listen_on(plan.receiver, window).map(Receiver::Tcp)
            }
            None => bind_udp(plan.receiver).map(Receiver::Udp),
        };
        plans.iter().map(receiver).collect::<io::Result<Vec<_>>>().doing("listen for the flows")
    })?;
    let applications = Applications::new(scenario, seed);
    lab.namespaces[End::Senders as usize].enter(|| {
        let flow = |((index, plan), receiver): ((usize, &Plan), Receiver)| {
            if !goes_on() {
                return Ok(None);
            }
            let source = source(plan);
            let kind = match (source.tcp(), receiver) {
                (Some(tcp), Receiver::Tcp(listener)) => {
                    let transfers = applications.transfers(tcp, index, plan.group, 1);
                    let name = controllers.name_of(plan.group);
                    Kind::Tcp(Box::new(connect_tcp(scenario, plan, tcp, name, listener, transfers)?))
                }
                (None, Receiver::Udp(receiver)) => {
                    let socket = bind_udp(plan.sender).doing("make a UDP socket")?;
                    socket.connect(plan.receiver).doing("connect a UDP socket")?;
                    let rate = applications.constant_rate(index, plan.group).expect("the group is UDP");
                    let sender = UdpSender::new(socket, rate, source.packet_bytes(scenario.mtu));
                    let sent_packets = Arc::clone(&sender.sent_packets);
                    let measured = scenario.warmup.ns..scenario.duration.ns;
                    let receiver = UdpReceiver::new(receiver, measured).doing("set up a UDP socket")?;
                    let payload_bytes = source.payload_bytes(scenario.mss());
                    Kind::Udp(Box::new(Udp { sender: Some(sender), sent_packets, receiver, payload_bytes }))
                }
                _ => unreachable!("receivers were made from the same plans"),
            };
            Ok(Some(Flow { kind, received_bytes: 0 }))
        };
        plans.iter().enumerate().zip(receivers).map(flow).collect()
    })
}

/// A flow's sockets, with the kernel's controller of this name.
fn connect_tcp(
    scenario: &Scenario,
    plan: &Plan,
    tcp: &TcpSource,
    controller: &str,
    listener: TcpListener,
    transfers: Transfers,
) -> Result<Tcp, Error> {
    let sender = connect_with(controller, plan.sender, plan.receiver);
    let sender = sender.doing(format!("connect a flow of `{}`", tcp.controller))?;
    let (receiver, _) = listener.accept().doing("accept a flow")?;
    let is_short = scenario.groups[plan.group].source.short().is_some();
    let renewal = is_short.then(|| Renewal::new(listener, controller, plan.sender.ip(), plan.receiver).map(Box::new));
    let tcp = Tcp {
        sender,
        receiver,
        transfers,
        remaining: 0,
        backlog_bytes: backlog_bytes(scenario),
        window_bytes: window_bytes(scenario, &scenario.groups[plan.group], tcp),
        has_received: false,
        is_paced: tcp.pacing,
        renewal: renewal.transpose().doing("listen for short flows")?,
    };
    tcp.set_up().doing("set up a flow's sockets")?;
    Ok(tcp)
}

fn plans(scenario: &Scenario) -> Vec<Plan> {
    let plan = |(group, g): (usize, &Group)| {
        (0..g.flows).map(move |flow| {
            let at = |end| SocketAddr::from((Address { group, flow, end }.ip(), PORT));
            Plan { group, sender: at(End::Senders), receiver: at(End::Receivers) }
        })
    };
    scenario.groups.iter().enumerate().flat_map(plan).collect()
}

fn bind_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    sockopt::set_socket_recv_buffer_size_force(&socket, 1 << 28)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Bytes that wait in a socket to be sent.
fn backlog_bytes(scenario: &Scenario) -> u32 {
    let bps = scenario.network.links.iter().map(|l| l.rate.bps).max().unwrap_or(0);
    let bytes = u128::from(bps) * u128::from(BACKLOG_TICKS * TICK_NS) / 8_000_000_000;
    u32::try_from(bytes).unwrap_or(u32::MAX).max(MIN_BACKLOG_BYTES as u32)
}

impl Tcp {
    /// Sets what the sockets need.
    fn set_up(&self) -> io::Result<()> {
        let Self { sender, receiver, .. } = self;
        for socket in [sender, receiver] {
            socket.set_nonblocking(true)?;
            // Otherwise a closed connection would live on in the kernel, and its namespace with it.
            sockopt::set_socket_linger(socket, Some(Duration::ZERO))?;
        }
        // The kernel calls a socket writable when half of this is left.
        set_u32(sender, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, self.backlog_bytes.saturating_mul(2))?;
        // Otherwise the kernel puts off the ACKs of what waits to be read until the next tick.
        set_u32(receiver, libc::SOL_SOCKET, libc::SO_RCVLOWAT, MAX_UNREAD_BYTES)?;
        // The last segment of a transfer, though not full, waits for nothing.
        sender.set_nodelay(true)?;
        if self.is_paced {
            set_paced(sender)?;
        }
        Ok(())
    }

    /// What connections before this one counted.
    pub fn past(&self) -> Past {
        self.renewal.as_ref().map_or(Past::default(), |renewal| renewal.past)
    }

    /// Takes the new connection if one has been made. False while one is being made.
    fn renew(&mut self) -> io::Result<bool> {
        let Some(renewal) = self.renewal.as_mut().filter(|renewal| renewal.is_pending()) else { return Ok(true) };
        let Some((sender, receiver)) = renewal.poll((&self.sender, &self.receiver))? else { return Ok(false) };
        (self.sender, self.receiver) = (sender, receiver);
        self.has_received = false;
        self.set_up()?;
        Ok(true)
    }
}

impl Flow {
    /// Looks after the flow's sockets at `now`, ns since the run's start, which was at `realtime_origin` on the real-time clock. `payload` is
    /// what is sent, over and over.
    pub fn on_tick(&mut self, now: u64, realtime_origin: u64, payload: &[u8]) -> io::Result<()> {
        match &mut self.kind {
            Kind::Tcp(tcp) => {
                self.received_bytes += tcp.receive(payload.len())?;
                tcp.on_tick(now, payload)
            }
            Kind::Udp(udp) => {
                udp.receiver.receive(realtime_origin)?;
                // As much payload as TCP would have carried.
                self.received_bytes = udp.receiver.received_packets * u64::from(udp.payload_bytes);
                Ok(())
            }
        }
    }
}

impl Tcp {
    /// Bytes that have arrived since the last call.
    fn receive(&mut self, most_at_once: usize) -> io::Result<u64> {
        let mut received = 0;
        // Less than was asked for means that no more was there; by now there may be, but that can wait for the next tick.
        while let Some(bytes) = take(&self.receiver, most_at_once)? {
            received += bytes as u64;
            if bytes < most_at_once {
                break;
            }
        }
        if received > 0 && !self.has_received {
            self.has_received = true;
            set_window(&self.receiver, self.window_bytes)?;
        }
        Ok(received)
    }

    fn on_tick(&mut self, now: u64, payload: &[u8]) -> io::Result<()> {
        if !self.renew()? {
            return Ok(());
        }
        match self.transfers.on_time(now) {
            Due::Nothing => {}
            Due::Begin(bytes) => self.remaining = bytes.map_or(u64::MAX, |bytes| self.remaining + bytes),
            Due::Stop => self.remaining = 0,
        }
        self.give(payload)?;
        if self.transfers.is_running() && self.remaining == 0 && self.is_all_acknowledged()? {
            self.transfers.complete(now);
            if let Some(renewal) = &mut self.renewal {
                renewal.begin()?;
            }
        }
        Ok(())
    }

    /// Gives the socket as much as it takes, once it wants a good deal. The last segment that it takes carries PSH, which the receiver ACKs at
    /// once: with what a tick makes room for, a slow flow would have an ACK for each packet, as no bulk transfer has.
    fn give(&mut self, payload: &[u8]) -> io::Result<()> {
        if self.remaining == 0 || !is_writable(&self.sender)? {
            return Ok(());
        }
        while self.remaining > 0 {
            let length = (payload.len() as u64).min(self.remaining);
            // No segment that is not full, unless it is the last.
            let more = if length < self.remaining { SendFlags::MORE } else { SendFlags::empty() };
            match send(&self.sender, &payload[..length as usize], more | SendFlags::NOSIGNAL) {
                Ok(bytes) if self.remaining < u64::MAX => self.remaining -= bytes as u64,
                Ok(_) => {}
                Err(Errno::AGAIN) => break,
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    fn is_all_acknowledged(&self) -> io::Result<bool> {
        let info = read_tcp_info(&self.sender)?;
        Ok(info.tcpi_notsent_bytes == 0 && info.tcpi_unacked == 0)
    }
}

/// Takes up to `most` bytes, or a packet, out of a socket without copying them; `None` if there are none.
fn is_writable(socket: impl AsFd) -> io::Result<bool> {
    let mut fds = [PollFd::new(&socket, PollFlags::OUT)];
    Ok(poll(&mut fds, Some(&Timespec::default()))? > 0)
}

fn take(socket: impl AsFd, most: usize) -> io::Result<Option<usize>> {
    let mut nowhere = [MaybeUninit::<u8>::uninit(); CHUNK_BYTES];
    match recv(socket, &mut nowhere[..most.min(CHUNK_BYTES)], RecvFlags::TRUNC) {
        Ok((_, bytes)) => Ok(Some(bytes)),
        Err(Errno::AGAIN) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// What flows send.
pub fn payload() -> Vec<u8> {
    vec![0x5a; CHUNK_BYTES]
}
