// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender.

use std::{
    fs::File,
    io::{self, Read},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig, RecvStream, SendStream, TokioRuntime, VarInt,
};
use tokio::{
    sync::mpsc,
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    Error, Progress, Summary, Ticket, Transport,
    link::{SERVER_NAME, Side, bind, client, proof, trust},
    names::shown,
    parts::PartWriter,
    plan::{Planned, plan},
    prefix,
    progress::Hashing,
    strangers::STRANGER,
    wire::{Answer, CHUNK_BYTES, End, Hashed, MAGIC, Offer, read, write},
};

/// Largest answer: it is short, except for the offsets of many files.
const ANSWER_BYTES: usize = 64 << 20;
/// Interval between reports of hashing to the receiver.
pub(crate) const TELL: Duration = Duration::from_secs(1);
/// Pause between two attempts to reach the receiver.
const PAUSE: Duration = Duration::from_secs(1);

/// What to send.
#[derive(Clone, Debug)]
pub enum Source {
    /// Files, and folders with all that is in them.
    Files(Vec<PathBuf>),
    /// Zeros for this long, which the receiver discards.
    Bench(Duration),
}

/// How to send it.
#[derive(Clone, Debug)]
pub struct SendOptions {
    /// Controller and timeouts.
    pub transport: Transport,
    /// How long to try to reach the receiver.
    pub patience: Duration,
}

impl Default for SendOptions {
    fn default() -> Self {
        Self { transport: Transport::default(), patience: Duration::from_secs(30) }
    }
}

/// Something that happened to a sender that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendNote {
    /// A path under a folder that is no file: a link, a device.
    LeftOut(PathBuf),
    /// The receiver was not reached, or had no place. It is tried again until the patience is at an end.
    TriesAgain(String),
}

/// Sends to the receiver of the ticket.
///
/// # Errors
/// [`Error`]: what broke off, here or there. The transfer may be begun again, and goes on where it was.
pub async fn send(
    source: &Source,
    ticket: &Ticket,
    options: &SendOptions,
    progress: Arc<Progress>,
    mut note: impl FnMut(SendNote),
) -> Result<Summary, Error> {
    let planned = match source {
        Source::Files(paths) => {
            let paths = paths.clone();
            let (planned, others) = spawn_blocking(move || plan(&paths)).await.map_err(Error::lost)??;
            others.into_iter().map(SendNote::LeftOut).for_each(&mut note);
            planned
        }
        Source::Bench(_) => Vec::new(),
    };
    let any: SocketAddr = match ticket.address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let endpoint = bind(any)
        .and_then(|socket| Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime)))
        .map_err(|cause| Error::Socket { address: any, cause })?;
    let config = client(&options.transport, ticket.certificate)?;
    let accepted = reach(&endpoint, &config, ticket, options.patience, note).await?;
    let connection = accepted.connection.clone();
    let result = transfer(accepted, source, planned, &progress).await;
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    result
}

/// A receiver that has proved itself, and to which this sender has.
struct Accepted {
    connection: Connection,
    to: SendStream,
    from: RecvStream,
}

/// Connects. Strangers may have all of a receiver's places for a moment, and its program may be about to start: another try helps.
async fn reach(
    endpoint: &Endpoint,
    config: &ClientConfig,
    ticket: &Ticket,
    patience: Duration,
    mut note: impl FnMut(SendNote),
) -> Result<Accepted, Error> {
    let mut why = None;
    let tries = async {
        loop {
            match connect(endpoint, config, ticket).await {
                Err(error @ Error::Connection(_)) if why.is_none() => {
                    note(SendNote::TriesAgain(error.told()));
                    why = Some(error);
                }
                Err(Error::Connection(_)) => {}
                ended => return ended,
            }
            sleep(PAUSE).await;
        }
    };
    let result = timeout(patience, tries).await;
    result.unwrap_or_else(|_| {
        Err(why.unwrap_or_else(|| {
            Error::Connection(format!("{} did not answer in {} s", ticket.address, patience.as_secs_f32()))
        }))
    })
}

/// One try: the handshake, and both proofs.
async fn connect(endpoint: &Endpoint, config: &ClientConfig, ticket: &Ticket) -> Result<Accepted, Error> {
    let connecting = endpoint.connect_with(config.clone(), ticket.address, SERVER_NAME);
    // The address cannot be one: another try would not help.
    let connecting = connecting.map_err(|e| Error::Ticket(e.to_string()))?;
    let connection = connecting.await.map_err(|e| match &e {
        ConnectionError::TransportError(e) if e.reason.contains("the certificate is not the ticket's") => {
            Error::Ticket("another receiver listens there".into())
        }
        _ => Error::lost(format!("{}: {e}", ticket.address)),
    })?;
    let result = prove(&connection, ticket).await;
    match (result, connection.close_reason()) {
        (Ok((to, from)), _) => {
            trust(&connection);
            Ok(Accepted { connection, to, from })
        }
        (Err(_), Some(ConnectionError::ApplicationClosed(close))) if close.error_code == STRANGER => {
            Err(Error::Ticket("it is for another transfer".into()))
        }
        (Err(error), _) => Err(error),
    }
}

async fn prove(connection: &Connection, ticket: &Ticket) -> Result<(SendStream, RecvStream), Error> {
    let (mut to, mut from) = connection.open_bi().await.map_err(Error::lost)?;
    to.write_all(MAGIC).await.map_err(Error::lost)?;
    to.write_all(proof(connection, &ticket.secret, Side::Sender)?.as_bytes()).await.map_err(Error::lost)?;
    let mut theirs = [0; 32];
    from.read_exact(&mut theirs).await.map_err(Error::lost)?;
    if blake3::Hash::from(theirs) != proof(connection, &ticket.secret, Side::Receiver)? {
        return Err(Error::Ticket("the receiver does not know the secret".into()));
    }
    Ok((to, from))
}

async fn transfer(
    accepted: Accepted,
    source: &Source,
    planned: Vec<Planned>,
    progress: &Arc<Progress>,
) -> Result<Summary, Error> {
    let Accepted { connection, mut to, mut from } = accepted;
    let offer =
        Offer { entries: planned.iter().map(|p| p.entry.clone()).collect(), bench: matches!(source, Source::Bench(_)) };
    write(&mut to, &offer).await?;
    let offsets = match read(&mut from, ANSWER_BYTES).await? {
        Answer::Go(offsets) => offsets,
        Answer::Refused(why) => return Err(Error::Refused(shown(&why))),
    };
    let summary = agreed(&planned, &offsets)?;
    let left = planned.iter().zip(&offsets).map(|(p, offset)| p.entry.size.unwrap_or(0) - offset).sum();
    progress.begin(left, offsets.iter().sum(), Hashing::Own, &connection);
    // Files are read by a thread of its own; the channel bounds what waits.
    let (chunks, read_chunks) = mpsc::channel(16);
    let reader = match *source {
        Source::Bench(time) => spawn_blocking(move || {
            zeros(time, &chunks);
            Ok(())
        }),
        Source::Files(_) => {
            let reader = Reader { chunks, progress: progress.clone(), connection: connection.clone() };
            spawn_blocking(move || reader.read(&planned, &offsets))
        }
    };
    let mut end = Box::pin(read(&mut from, ANSWER_BYTES));
    let sent = tokio::select! {
        sent = pour(&connection, read_chunks, progress) => sent,
        error = tell_of_hashing(&mut to, progress) => Err(error),
        early = &mut end => return Err(match early {
            Ok(End::Failed(why)) => Error::Peer(shown(&why)),
            Ok(End::Done) => Error::Peer("it ended before it had all".into()),
            Err(error) => error,
        }),
    };
    // The announced data will not come: the connection ends.
    reader.await.map_err(Error::lost)??;
    // If it stopped in the middle, the receiver says why.
    match (end.await, sent) {
        (Ok(End::Done), Ok(bytes)) => Ok(Summary { bytes, ..summary }),
        (Ok(End::Failed(why)), _) => Err(Error::Peer(shown(&why))),
        (_, Err(error)) | (Err(error), _) => Err(error),
    }
}

/// The size of the transfer, if the receiver's answer fits the offer.
fn agreed(planned: &[Planned], offsets: &[u64]) -> Result<Summary, Error> {
    let pairs = || planned.iter().map(|p| p.entry.size).zip(offsets);
    if offsets.len() != planned.len() || pairs().any(|(size, &offset)| offset > size.unwrap_or(0)) {
        return Err(Error::Peer("it asked for something that was not offered".into()));
    }
    Ok(Summary {
        files: planned.iter().filter(|p| p.entry.size.is_some()).count() as u64,
        unchanged: pairs().filter(|(size, offset)| *size == Some(**offset) && **offset > 0).count() as u64,
        bytes: 0,
    })
}

/// Sends what the reader provides. Returns the number of bytes.
async fn pour(connection: &Connection, mut chunks: mpsc::Receiver<Bytes>, progress: &Progress) -> Result<u64, Error> {
    let (mut parts, mut bytes) = (PartWriter::new(connection), 0);
    while let Some(chunk) = chunks.recv().await {
        let length = chunk.len() as u64;
        parts.write(chunk).await?;
        bytes += length;
        progress.add(length);
    }
    parts.finish().await?;
    Ok(bytes)
}

/// Reports the progress of hashing to the receiver, so that it does not take the silence for the end. Returns only if that fails.
async fn tell_of_hashing(to: &mut SendStream, progress: &Progress) -> Error {
    let mut told = 0;
    loop {
        sleep(TELL).await;
        let hashed = progress.own_hashed();
        if hashed > told {
            if let Err(error) = write(to, &Hashed(hashed)).await {
                return error;
            }
            told = hashed;
        }
    }
}

fn zeros(time: Duration, chunks: &mpsc::Sender<Bytes>) {
    let chunk = Bytes::from(vec![0; CHUNK_BYTES]);
    let start = Instant::now();
    while start.elapsed() < time && chunks.blocking_send(chunk.clone()).is_ok() {}
}

/// Reads the files.
struct Reader {
    chunks: mpsc::Sender<Bytes>,
    progress: Arc<Progress>,
    connection: Connection,
}

impl Reader {
    /// Reads each file from its offset on, and gives its hash after it. Ends early if nobody wants more.
    fn read(&self, planned: &[Planned], offsets: &[u64]) -> Result<(), Error> {
        for (planned, &offset) in planned.iter().zip(offsets) {
            let Some(size) = planned.entry.size else { continue };
            let read = self.read_file(&planned.path, size, offset);
            let is_wanted = read.map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => {
                    Error::Nothing(format!("{}: it became shorter while it was sent", planned.path.display()))
                }
                _ => Error::file(&planned.path)(e),
            })?;
            if !is_wanted {
                break;
            }
        }
        Ok(())
    }

    fn read_file(&self, path: &PathBuf, size: u64, offset: u64) -> io::Result<bool> {
        let mut file = File::open(path)?;
        let mut hasher = match prefix::hash(&mut file, offset, &self.progress, &self.connection) {
            Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => return Ok(false),
            hashed => hashed?,
        };
        let mut left = size - offset;
        while left > 0 {
            let mut chunk = vec![0; left.min(CHUNK_BYTES as u64) as usize];
            file.read_exact(&mut chunk)?;
            hasher.update(&chunk);
            left -= chunk.len() as u64;
            if self.chunks.blocking_send(chunk.into()).is_err() {
                return Ok(false);
            }
        }
        Ok(self.chunks.blocking_send(Bytes::copy_from_slice(hasher.finalize().as_bytes())).is_ok())
    }
}
