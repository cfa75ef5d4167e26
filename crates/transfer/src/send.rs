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
use quinn::{Connection, ConnectionError, Endpoint, EndpointConfig, TokioRuntime, VarInt};
use tokio::sync::mpsc;

use crate::{
    Error, Progress, Summary, Ticket, Transport,
    link::{Side, bind, client, proof, trust},
    parts::PartWriter,
    plan::{Planned, plan},
    receive::{SERVER_NAME, STRANGER},
    wire::{Answer, CHUNK_BYTES, End, MAGIC, Offer, read, write},
};

/// Answers are short, but for the offsets of many files.
const ANSWER_BYTES: usize = 64 << 20;

/// What to send.
#[derive(Clone, Debug)]
pub enum Source {
    /// Files, and folders with all that is in them.
    Files(Vec<PathBuf>),
    /// Zeros for so long, which the receiver throws away.
    Bench(Duration),
}

/// How to send it.
#[derive(Clone, Debug, Default)]
pub struct SendOptions {
    /// Controller and timeouts.
    pub transport: Transport,
}

/// Sends to the receiver of the ticket. `left_out` is told of paths under a folder that are no files: links, devices.
///
/// # Errors
/// [`Error`]: what broke off, here or there. The transfer may be begun again, and goes on where it was.
pub async fn send(
    source: &Source,
    ticket: &Ticket,
    options: &SendOptions,
    progress: Arc<Progress>,
    mut left_out: impl FnMut(&PathBuf),
) -> Result<Summary, Error> {
    let planned = match source {
        Source::Files(paths) => {
            let (planned, others) = plan(paths)?;
            others.iter().for_each(&mut left_out);
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
        .map_err(|source| Error::Socket { address: any, source })?;
    let config = client(&options.transport, ticket.certificate)?;
    let lost = |e: ConnectionError| match &e {
        ConnectionError::TransportError(e) if e.reason.contains("the certificate is not the ticket's") => {
            Error::Ticket("another receiver listens there".into())
        }
        _ => Error::Connection(format!("{}: {e}", ticket.address)),
    };
    let connecting = endpoint.connect_with(config, ticket.address, SERVER_NAME);
    let connection = connecting.map_err(|e| Error::Connection(e.to_string()))?.await.map_err(lost)?;
    let result = transfer(&connection, source, planned, ticket, &progress).await;
    let result = match (result, connection.close_reason()) {
        (Err(Error::Connection(_)), Some(ConnectionError::ApplicationClosed(close)))
            if close.error_code == STRANGER =>
        {
            Err(Error::Ticket("it is for another transfer".into()))
        }
        (result, _) => result,
    };
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    result
}

async fn transfer(
    connection: &Connection,
    source: &Source,
    planned: Vec<Planned>,
    ticket: &Ticket,
    progress: &Arc<Progress>,
) -> Result<Summary, Error> {
    let lost = |e: &dyn std::fmt::Display| Error::Connection(e.to_string());
    let (mut to, mut from) = connection.open_bi().await.map_err(|e| lost(&e))?;
    to.write_all(MAGIC).await.map_err(|e| lost(&e))?;
    to.write_all(proof(connection, &ticket.secret, Side::Sender)?.as_bytes()).await.map_err(|e| lost(&e))?;
    let mut theirs = [0; 32];
    from.read_exact(&mut theirs).await.map_err(|e| lost(&e))?;
    if blake3::Hash::from(theirs) != proof(connection, &ticket.secret, Side::Receiver)? {
        return Err(Error::Ticket("the receiver does not know the secret".into()));
    }
    trust(connection);
    let offer =
        Offer { entries: planned.iter().map(|p| p.entry.clone()).collect(), bench: matches!(source, Source::Bench(_)) };
    write(&mut to, &offer).await?;
    let offsets = match read(&mut from, ANSWER_BYTES).await? {
        Answer::Go(offsets) => offsets,
        Answer::Refused(why) => return Err(Error::Refused(why)),
    };
    let sizes = || planned.iter().map(|p| p.entry.size.unwrap_or(0));
    if offsets.len() != planned.len() || sizes().zip(&offsets).any(|(size, &offset)| offset > size) {
        return Err(Error::Peer("it wants what was not offered".into()));
    }
    progress.begin(sizes().zip(&offsets).map(|(size, offset)| size - offset).sum(), connection);
    let summary = Summary {
        files: planned.iter().filter(|p| p.entry.size.is_some()).count() as u64,
        unchanged: planned.iter().zip(&offsets).filter(|(p, o)| p.entry.size == Some(**o) && **o > 0).count() as u64,
        bytes: 0,
    };
    // Files are read by a thread of its own; the channel bounds what waits.
    let (chunks, read_chunks) = mpsc::channel(16);
    let reader = match *source {
        Source::Bench(time) => tokio::task::spawn_blocking(move || {
            zeros(time, &chunks);
            Ok(())
        }),
        Source::Files(_) => tokio::task::spawn_blocking(move || read_files(&planned, &offsets, &chunks)),
    };
    let mut end = Box::pin(read(&mut from, ANSWER_BYTES));
    let sent = tokio::select! {
        sent = pour(connection, read_chunks, progress) => sent,
        early = &mut end => return Err(match early {
            Ok(End::Failed(why)) => Error::Peer(why),
            Ok(End::Done) => Error::Peer("it ended before it had all".into()),
            Err(error) => error,
        }),
    };
    // What was announced will not come: the connection ends.
    reader.await.map_err(|e| lost(&e))??;
    // If it stopped in the middle, the receiver says why.
    match (end.await, sent) {
        (Ok(End::Done), Ok(bytes)) => Ok(Summary { bytes, ..summary }),
        (Ok(End::Failed(why)), _) => Err(Error::Peer(why)),
        (_, Err(error)) | (Err(error), _) => Err(error),
    }
}

/// Sends what comes. Returns the bytes.
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

fn zeros(time: Duration, chunks: &mpsc::Sender<Bytes>) {
    let chunk = Bytes::from(vec![0; CHUNK_BYTES]);
    let start = Instant::now();
    while start.elapsed() < time && chunks.blocking_send(chunk.clone()).is_ok() {}
}

/// Reads each file from its offset on, and gives its hash after it. Ends early if nobody wants more.
fn read_files(planned: &[Planned], offsets: &[u64], chunks: &mpsc::Sender<Bytes>) -> Result<(), Error> {
    for (Planned { entry, path }, &offset) in planned.iter().zip(offsets) {
        let Some(size) = entry.size else { continue };
        let mut file = File::open(path).map_err(Error::file(path))?;
        let mut hasher = blake3::Hasher::new();
        let prefix = io::copy(&mut (&mut file).take(offset), &mut hasher).map_err(Error::file(path))?;
        let changed = || Error::Nothing(format!("{}: it became shorter while it was sent", path.display()));
        if prefix < offset {
            return Err(changed());
        }
        let mut left = size - offset;
        while left > 0 {
            let mut chunk = vec![0; left.min(CHUNK_BYTES as u64) as usize];
            file.read_exact(&mut chunk).map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => changed(),
                _ => Error::file(path)(e),
            })?;
            hasher.update(&chunk);
            left -= chunk.len() as u64;
            if chunks.blocking_send(chunk.into()).is_err() {
                return Ok(());
            }
        }
        if chunks.blocking_send(Bytes::copy_from_slice(hasher.finalize().as_bytes())).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
