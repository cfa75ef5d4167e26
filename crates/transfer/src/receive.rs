// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiver: listens, admits the holder of the ticket, and takes one transfer.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use quinn::{Connection, Endpoint, EndpointConfig, TokioRuntime};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep_until},
};

use crate::{
    Error, Progress, Summary, Ticket, Transport,
    link::{self, server},
    store::Store,
    strangers::{Quota, Strangers},
    take::{BROKEN, take},
};

/// Number of strangers named in this time. Only the number of the others is reported.
const NOTES: u64 = 10;
const NOTES_TIME: Duration = Duration::from_secs(60);

/// The resources that a receiver gives its peers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time to prove that one has the ticket.
    pub proof: Duration,
    /// Time in which no byte comes, and none is hashed.
    pub stall: Duration,
    /// Connections at a time that have not proved it.
    pub strangers: usize,
    /// Entries of an offer.
    pub entries: usize,
    /// Bytes of an offer.
    pub offer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            proof: Duration::from_secs(10),
            stall: Duration::from_secs(60),
            strangers: 64,
            entries: 1_000_000,
            offer_bytes: 128 << 20,
        }
    }
}

/// Options of a receiver.
#[derive(Clone, Debug)]
pub struct ReceiveOptions {
    /// Where the files go.
    pub folder: PathBuf,
    /// Where to listen; port 0: any free port.
    pub listen: SocketAddr,
    /// The address for the ticket, if it is not this machine's own.
    pub address: Option<IpAddr>,
    /// Replace existing files.
    pub force: bool,
    /// Take names that begin with a dot, and folders of such names.
    pub hidden: bool,
    /// How to send what a receiver sends.
    pub transport: Transport,
    /// What to spend on peers.
    pub limits: Limits,
}

/// Something that happened to a receiver that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A sender has proved that it has the ticket.
    Connected(SocketAddr),
    /// Somebody did not.
    Stranger(SocketAddr),
    /// This many others did not, in the last minute.
    MoreStrangers(u64),
    /// A transfer broke off; it may be begun again.
    BrokeOff(String),
}

/// A receiver that listens.
pub struct Receiver {
    endpoint: Endpoint,
    store: Arc<Store>,
    ticket: Ticket,
    limits: Limits,
}

impl Receiver {
    /// Listens. To be called in a tokio runtime.
    ///
    /// # Errors
    /// [`Error`] if the folder cannot be written, the port is taken, or quinn cannot host the controller.
    pub fn bind(options: &ReceiveOptions) -> Result<Self, Error> {
        let store = Arc::new(Store::open(&options.folder, options.force, options.hidden)?);
        let (config, certificate) = server(&options.transport)?;
        let at = |cause| Error::Socket { address: options.listen, cause };
        let socket = link::bind(options.listen).map_err(at)?;
        let bound = socket.local_addr().map_err(at)?;
        let endpoint = Endpoint::new(EndpointConfig::default(), Some(config), socket, Arc::new(TokioRuntime));
        let secret = blake3::hash(&random()).as_bytes()[..16].try_into().expect("16 of 32 bytes");
        let ip =
            options.address.unwrap_or_else(|| if bound.ip().is_unspecified() { own_address() } else { bound.ip() });
        let ticket = Ticket { address: SocketAddr::new(ip, bound.port()), certificate, secret };
        Ok(Self { endpoint: endpoint.map_err(at)?, store, ticket, limits: options.limits })
    }

    /// What a sender needs.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Takes one transfer. Those that break off, for whatever reason, may be begun again; `note` is told of them.
    ///
    /// # Errors
    /// [`Error::Connection`] if the socket fails.
    pub async fn run(self, progress: Arc<Progress>, mut note: impl FnMut(Note)) -> Result<Summary, Error> {
        let mut strangers = Strangers::new(self.limits.strangers, self.limits.proof);
        let mut quota = Quota::new(NOTES, NOTES_TIME);
        let mut transfer: Option<(Connection, JoinHandle<Result<Summary, Error>>)> = None;
        loop {
            let stranger = tokio::select! {
                incoming = self.endpoint.accept() => {
                    let Some(incoming) = incoming else {
                        return Err(Error::Connection("the socket is closed".into()));
                    };
                    if incoming.remote_address_validated() {
                        strangers.meet(incoming, &self.ticket)
                    } else {
                        // Nothing is kept of it, and nothing said, until it shows that this address is its own (RFC 9000 section 8.1).
                        let _ = incoming.retry();
                        None
                    }
                }
                (address, proved) = strangers.next() => match proved {
                    None => Some(address),
                    Some(sender) => {
                        // Perhaps the same sender again; the holder of the ticket may do so.
                        if let Some((old, task)) = transfer.take() {
                            old.close(BROKEN, b"another sender has the ticket, too");
                            let _ = task.await;
                        }
                        note(Note::Connected(address));
                        let connection = sender.connection.clone();
                        let taking = take(sender, self.store.clone(), self.limits, progress.clone());
                        transfer = Some((connection, tokio::spawn(taking)));
                        None
                    }
                },
                ended = async { (&mut transfer.as_mut().expect("asked first").1).await }, if transfer.is_some() => {
                    transfer = None;
                    match ended {
                        Ok(Ok(summary)) => {
                            self.endpoint.wait_idle().await;
                            return Ok(summary);
                        }
                        Ok(Err(error)) => note(Note::BrokeOff(error.to_string())),
                        Err(panicked) => return Err(Error::Connection(panicked.to_string())),
                    }
                    None
                }
                () = sleep_until(quota.end()), if quota.is_open() => {
                    match quota.withheld() {
                        0 => {}
                        withheld => note(Note::MoreStrangers(withheld)),
                    }
                    None
                }
            };
            if let Some(address) = stranger.filter(|_| quota.allows(Instant::now())) {
                note(Note::Stranger(address));
            }
        }
    }
}

/// 32 bytes that nobody can guess.
fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut bytes).expect("the system has random numbers");
    bytes
}

/// This machine's address towards other machines. Nothing is sent: the destinations are documentation addresses (RFC 5737, RFC 3849).
fn own_address() -> IpAddr {
    let towards = |from: &str, to: &str| -> io::Result<IpAddr> {
        let socket = UdpSocket::bind(from)?;
        socket.connect(to)?;
        Ok(socket.local_addr()?.ip())
    };
    towards("0.0.0.0:0", "192.0.2.1:9")
        .or_else(|_| towards("[::]:0", "[2001:db8::1]:9"))
        .unwrap_or(Ipv4Addr::LOCALHOST.into())
}
