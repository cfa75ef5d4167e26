// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiver: listens, lets in whoever has the ticket, and takes one transfer.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use quinn::{Connection, Endpoint, EndpointConfig, Incoming, RecvStream, SendStream, TokioRuntime, VarInt};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinHandle,
    time::timeout,
};

use crate::{
    Error, Progress, Refusal, Summary, Ticket, Transport,
    link::{self, Side, WINDOW_BYTES, proof, server, trust},
    parts::PartReader,
    store::Store,
    wire::{Answer, CHUNK_BYTES, End, Entry, MAGIC, Offer, read, write},
};

/// Why a connection was closed, for the other side.
pub(crate) const STRANGER: VarInt = VarInt::from_u32(1);
const BROKEN: VarInt = VarInt::from_u32(2);
const DONE: VarInt = VarInt::from_u32(0);

/// What a receiver spends on its peers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time to prove that one has the ticket.
    pub proof: Duration,
    /// Time without any progress of a transfer.
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
            strangers: 16,
            entries: 1_000_000,
            offer_bytes: 128 << 20,
        }
    }
}

/// What a receiver is to do.
#[derive(Clone, Debug)]
pub struct ReceiveOptions {
    /// Where the files go.
    pub folder: PathBuf,
    /// Where to listen; port 0: any that is free.
    pub listen: SocketAddr,
    /// The address for the ticket, if it is not this machine's own.
    pub address: Option<IpAddr>,
    /// Replace files that are there.
    pub force: bool,
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

/// A sender that has proved itself.
struct Proved {
    connection: Connection,
    to: SendStream,
    from: RecvStream,
}

impl Receiver {
    /// Listens. To be called in a tokio runtime.
    ///
    /// # Errors
    /// [`Error`] if the folder cannot be written, the port is taken, or quinn cannot host the controller.
    pub fn bind(options: &ReceiveOptions) -> Result<Self, Error> {
        let store = Arc::new(Store::open(&options.folder, options.force)?);
        let (config, certificate) = server(&options.transport)?;
        let at = |source| Error::Socket { address: options.listen, source };
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

    /// Takes one transfer. Those that break off may be begun again; `note` is told of them.
    ///
    /// # Errors
    /// [`Error::File`] if the files cannot be written.
    pub async fn run(self, progress: Arc<Progress>, mut note: impl FnMut(Note)) -> Result<Summary, Error> {
        let (proved_to, mut proved) = mpsc::channel(1);
        let strangers = Arc::new(Semaphore::new(self.limits.strangers));
        let mut transfer: Option<(Connection, JoinHandle<Result<Summary, Error>>)> = None;
        loop {
            tokio::select! {
                incoming = self.endpoint.accept() => {
                    let Some(incoming) = incoming else {
                        return Err(Error::Connection("the socket is closed".into()));
                    };
                    let Ok(permit) = strangers.clone().try_acquire_owned() else {
                        incoming.refuse();
                        continue;
                    };
                    let (to, ticket, limit) = (proved_to.clone(), self.ticket.clone(), self.limits.proof);
                    tokio::spawn(async move {
                        let address = incoming.remote_address();
                        let proved = timeout(limit, let_in(incoming, &ticket)).await.ok().flatten();
                        let _ = to.send((address, proved)).await;
                        drop(permit);
                    });
                }
                Some((address, sender)) = proved.recv() => match sender {
                    None => note(Note::Stranger(address)),
                    Some(sender) => {
                        // The same sender again, perhaps; whoever has the ticket may.
                        if let Some((old, task)) = transfer.take() {
                            old.close(BROKEN, b"another sender has the ticket, too");
                            let _ = task.await;
                        }
                        note(Note::Connected(address));
                        let (store, limits, progress) = (self.store.clone(), self.limits, progress.clone());
                        let connection = sender.connection.clone();
                        transfer = Some((connection, tokio::spawn(take(sender, store, limits, progress))));
                    }
                },
                ended = async { (&mut transfer.as_mut().expect("asked first").1).await }, if transfer.is_some() => {
                    transfer = None;
                    match ended {
                        Ok(Ok(summary)) => {
                            self.endpoint.wait_idle().await;
                            return Ok(summary);
                        }
                        Ok(Err(error @ Error::File { .. })) => {
                            self.endpoint.wait_idle().await;
                            return Err(error);
                        }
                        Ok(Err(error)) => note(Note::BrokeOff(error.to_string())),
                        Err(panicked) => return Err(Error::Connection(panicked.to_string())),
                    }
                }
            }
        }
    }
}

/// The handshake, and both proofs. `None`: a stranger, who has learned nothing.
async fn let_in(incoming: Incoming, ticket: &Ticket) -> Option<Proved> {
    let connection = incoming.await.ok()?;
    let is_known = async {
        let (mut to, mut from) = connection.accept_bi().await.ok()?;
        let mut hello = [0; MAGIC.len() + 32];
        from.read_exact(&mut hello).await.ok()?;
        let (magic, theirs) = hello.split_at(MAGIC.len());
        let expected = proof(&connection, &ticket.secret, Side::Sender).ok()?;
        let theirs: [u8; 32] = theirs.try_into().ok()?;
        // Hashes are compared in constant time.
        if magic != MAGIC || blake3::Hash::from(theirs) != expected {
            return None;
        }
        let own = proof(&connection, &ticket.secret, Side::Receiver).ok()?;
        to.write_all(own.as_bytes()).await.ok()?;
        Some((to, from))
    };
    match is_known.await {
        Some((to, from)) => {
            trust(&connection);
            Some(Proved { connection, to, from })
        }
        None => {
            connection.close(STRANGER, b"this is not the secret");
            None
        }
    }
}

/// Takes a transfer, and tells the sender what has come of it.
async fn take(sender: Proved, store: Arc<Store>, limits: Limits, progress: Arc<Progress>) -> Result<Summary, Error> {
    let Proved { connection, mut to, mut from } = sender;
    let result = transfer(&connection, &mut to, &mut from, store, limits, &progress).await;
    let end = match &result {
        Ok(_) => End::Done,
        Err(error) => End::Failed(error.to_string()),
    };
    if write(&mut to, &end).await.is_ok() && to.finish().is_ok() {
        // Until the sender has it, and closes.
        let _ = timeout(Duration::from_secs(5), connection.closed()).await;
    }
    connection.close(if result.is_ok() { DONE } else { BROKEN }, b"");
    result
}

async fn transfer(
    connection: &Connection,
    to: &mut SendStream,
    from: &mut RecvStream,
    store: Arc<Store>,
    limits: Limits,
    progress: &Arc<Progress>,
) -> Result<Summary, Error> {
    let stalled = |_| Error::Peer(format!("nothing came for {} s", limits.stall.as_secs_f32()));
    let offer: Offer = timeout(limits.stall, read(from, limits.offer_bytes)).await.map_err(stalled)??;
    let planned = match offer.entries.len() {
        n if n > limits.entries => Err(Refusal::TooLarge(format!("{n} entries, {} are allowed", limits.entries))),
        _ => store.plan(&offer.entries),
    };
    let offsets = match planned {
        Ok(offsets) => offsets,
        Err(refusal) => {
            write(to, &Answer::Refused(refusal.to_string())).await?;
            return Err(Error::Refused(refusal.to_string()));
        }
    };
    write(to, &Answer::Go(offsets.clone())).await?;
    let sizes = offer.entries.iter().map(|e| e.size.unwrap_or(0));
    progress.begin(sizes.zip(&offsets).map(|(size, offset)| size - offset).sum(), connection);
    // Files are written by a thread of their own; the channel bounds what waits.
    let (chunks, written) = mpsc::channel::<Bytes>(16);
    let writer = tokio::task::spawn_blocking(move || match offer.bench {
        true => Ok(discard(written)),
        false => {
            Writer { written, rest: Bytes::new(), summary: Summary::default() }.write(&store, &offer.entries, &offsets)
        }
    });
    let mut parts = PartReader::new(connection, WINDOW_BYTES);
    // Not packet by packet: each would wake the other thread, which then takes the core from the network.
    let mut batch = BytesMut::with_capacity(CHUNK_BYTES);
    let mut lost = None;
    loop {
        let chunk = match timeout(limits.stall, parts.next()).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => break,
            Ok(Err(error)) => {
                lost = Some(error);
                break;
            }
            Err(elapsed) => {
                lost = Some(stalled(elapsed));
                break;
            }
        };
        progress.add(chunk.len() as u64);
        batch.extend_from_slice(&chunk);
        if batch.len() >= CHUNK_BYTES && chunks.send(batch.split().freeze()).await.is_err() {
            // The writer has ended: it says why.
            break;
        }
    }
    // What came is kept, even if the rest is lost.
    let _ = chunks.send(batch.freeze()).await;
    drop(chunks);
    let result = writer.await.map_err(|e| Error::Connection(e.to_string()))?;
    match (result, lost) {
        (Err(error @ (Error::File { .. } | Error::Refused(_))), _) => Err(error),
        (_, Some(lost)) => Err(lost),
        (result, None) => result,
    }
}

fn discard(mut written: mpsc::Receiver<Bytes>) -> Summary {
    let mut summary = Summary::default();
    while let Some(bytes) = written.blocking_recv() {
        summary.bytes += bytes.len() as u64;
    }
    summary
}

/// Writes what comes to the files.
struct Writer {
    written: mpsc::Receiver<Bytes>,
    rest: Bytes,
    summary: Summary,
}

impl Writer {
    fn write(mut self, store: &Store, entries: &[Entry], offsets: &[u64]) -> Result<Summary, Error> {
        for (entry, &offset) in entries.iter().zip(offsets) {
            let Some(mut file) = store.begin(entry, offset)? else { continue };
            while file.left() > 0 {
                let bytes = self.next(file.left())?;
                file.write(&bytes)?;
                self.summary.bytes += bytes.len() as u64;
            }
            let mut hash = Vec::new();
            while hash.len() < 32 {
                hash.extend_from_slice(&self.next(32 - hash.len() as u64)?);
            }
            self.summary.unchanged += u64::from(file.is_kept);
            file.finish(hash.try_into().expect("32 bytes"))?;
            self.summary.files += 1;
        }
        match self.next(1) {
            Ok(_) => Err(Error::Peer("it sent more than it offered".into())),
            Err(_) => Ok(self.summary),
        }
    }

    /// The next bytes, at least one and at most so many.
    fn next(&mut self, most: u64) -> Result<Bytes, Error> {
        while self.rest.is_empty() {
            let next = self.written.blocking_recv();
            self.rest = next.ok_or_else(|| Error::Peer("it sent less than it offered".into()))?;
        }
        Ok(self.rest.split_to(self.rest.len().min(usize::try_from(most).unwrap_or(usize::MAX))))
    }
}

/// 32 bytes that nobody can guess.
fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut bytes).expect("the system has random numbers");
    bytes
}

/// This machine's address on the way to others. Nothing is sent: the addresses are those of documentation (RFC 5737, RFC 3849).
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

pub(crate) use link::SERVER_NAME;
