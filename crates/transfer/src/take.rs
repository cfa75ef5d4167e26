// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taking a transfer from a sender that has proved itself.

use std::{io, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use quinn::{Connection, RecvStream, SendStream, VarInt};
use tokio::{
    sync::{Notify, mpsc},
    task::spawn_blocking,
    time::timeout,
};

use crate::{
    Error, Limits, Progress, Refusal, Summary,
    link::WINDOW_BYTES,
    parts::PartReader,
    prefix,
    progress::Hashing,
    store::Store,
    strangers::Proved,
    wire::{Answer, CHUNK_BYTES, End, Entry, HASHED_BYTES, Hashed, Offer, read, read_json, understand, write},
};

/// Why a connection was closed, for the other side.
pub const BROKEN: VarInt = VarInt::from_u32(2);
const DONE: VarInt = VarInt::from_u32(0);
/// How long a sender may take to read what has come of it.
const FAREWELL: Duration = Duration::from_secs(5);

/// Takes a transfer, and tells the sender what has come of it.
pub async fn take(
    sender: Proved,
    store: Arc<Store>,
    limits: Limits,
    progress: Arc<Progress>,
) -> Result<Summary, Error> {
    let Proved { connection, mut to, from } = sender;
    let result = transfer(&connection, &mut to, from, store, limits, progress).await;
    let end = match &result {
        Ok(_) => End::Done,
        Err(error) => End::Failed(error.told()),
    };
    let farewell = async {
        if write(&mut to, &end).await.is_ok() && to.finish().is_ok() {
            // Until the sender has it, and closes.
            connection.closed().await;
        }
    };
    let _ = timeout(FAREWELL, farewell).await;
    connection.close(if result.is_ok() { DONE } else { BROKEN }, b"");
    result
}

/// An offer that is taken.
struct Agreed {
    offer: Offer,
    /// For each entry, how many bytes are there.
    offsets: Vec<u64>,
}

async fn transfer(
    connection: &Connection,
    to: &mut SendStream,
    mut from: RecvStream,
    store: Arc<Store>,
    limits: Limits,
    progress: Arc<Progress>,
) -> Result<Summary, Error> {
    let stalled = |_| stalled(limits.stall);
    let json = timeout(limits.stall, read_json(&mut from, limits.offer_bytes)).await.map_err(stalled)??;
    let planning = store.clone();
    // Of a million names this takes seconds.
    let planned = spawn_blocking(move || plan(&planning, &json, limits.entries)).await.map_err(Error::lost)?;
    let answer = match &planned {
        Ok(agreed) => Answer::Go(agreed.offsets.clone()),
        Err(Error::Refused(why)) => Answer::Refused(why.clone()),
        Err(_) => return planned.map(|_| Summary::default()),
    };
    timeout(limits.stall, write(to, &answer)).await.map_err(stalled)??;
    let agreed = planned?;
    let (left, there) = amounts(&agreed);
    progress.begin(left, there, Hashing::Both, connection);
    let heard = Arc::new(Notify::new());
    tokio::spawn(hear(from, progress.clone(), heard.clone()));
    let (chunks, written) = mpsc::channel::<Bytes>(16);
    // Files are written by a thread of their own; the channel bounds what waits.
    let (counted, aborted) = (progress.clone(), connection.clone());
    let writer = spawn_blocking(move || match agreed.offer.bench {
        true => Ok(discard(written)),
        false => Writer::new(written, counted, aborted).write(&store, &agreed),
    });
    let parts = PartReader::new(connection, WINDOW_BYTES);
    let came = pass_on(parts, chunks, &heard, limits.stall, &progress).await;
    let result = writer.await.map_err(Error::lost)?;
    match (result, came) {
        (Err(error @ (Error::File { .. } | Error::Refused(_))), _) => Err(error),
        (_, Err(lost)) => Err(lost),
        (result, Ok(())) => result,
    }
}

fn stalled(time: Duration) -> Error {
    Error::Peer(format!("nothing came for {} s", time.as_secs_f32()))
}

fn plan(store: &Store, offer: &[u8], most: usize) -> Result<Agreed, Error> {
    let offer: Offer = understand(offer)?;
    let planned = match offer.entries.len() {
        n if n > most => Err(Refusal::TooLarge(format!("{n} entries, {most} are allowed"))),
        _ => store.plan(&offer.entries),
    };
    let offsets = planned.map_err(|refusal| Error::Refused(refusal.to_string()))?;
    Ok(Agreed { offer, offsets })
}

/// Bytes that are to come, and bytes that are there.
fn amounts(agreed: &Agreed) -> (u64, u64) {
    let sum = |total: u64, bytes: u64| total.saturating_add(bytes);
    let left = agreed.offer.entries.iter().zip(&agreed.offsets).map(|(e, offset)| e.size.unwrap_or(0) - offset);
    (left.fold(0, sum), agreed.offsets.iter().copied().fold(0, sum))
}

/// Hears how far the sender is with its hashing, until the connection ends.
async fn hear(mut from: RecvStream, progress: Arc<Progress>, heard: Arc<Notify>) {
    while let Ok(Hashed(bytes)) = read(&mut from, HASHED_BYTES).await {
        if progress.hashed_there(bytes) {
            heard.notify_one();
        }
    }
}

/// Passes what comes to the writer, until the end.
async fn pass_on(
    mut parts: PartReader,
    chunks: mpsc::Sender<Bytes>,
    heard: &Notify,
    stall: Duration,
    progress: &Progress,
) -> Result<(), Error> {
    // Not packet by packet: each would wake the other thread, which then takes the core from the network.
    let mut batch = BytesMut::with_capacity(CHUNK_BYTES);
    let came = loop {
        let chunk = match next(&mut parts, heard, stall).await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break Ok(()),
            Err(lost) => break Err(lost),
        };
        progress.add(chunk.len() as u64);
        batch.extend_from_slice(&chunk);
        if batch.len() >= CHUNK_BYTES && chunks.send(batch.split().freeze()).await.is_err() {
            // The writer has ended: it says why.
            break Ok(());
        }
    };
    // What came is kept, even if the rest is lost.
    let _ = chunks.send(batch.freeze()).await;
    came
}

/// The next bytes. While the sender hashes what it has already there are none.
async fn next(parts: &mut PartReader, heard: &Notify, stall: Duration) -> Result<Option<Bytes>, Error> {
    loop {
        let next = async {
            tokio::select! {
                biased;
                chunk = parts.next() => Some(chunk),
                () = heard.notified() => None,
            }
        };
        if let Some(chunk) = timeout(stall, next).await.map_err(|_| stalled(stall))? {
            return chunk;
        }
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
    progress: Arc<Progress>,
    connection: Connection,
}

impl Writer {
    fn new(written: mpsc::Receiver<Bytes>, progress: Arc<Progress>, connection: Connection) -> Self {
        Self { written, rest: Bytes::new(), summary: Summary::default(), progress, connection }
    }

    fn write(mut self, store: &Store, agreed: &Agreed) -> Result<Summary, Error> {
        for (entry, &offset) in agreed.offer.entries.iter().zip(&agreed.offsets) {
            self.write_entry(store, entry, offset)?;
        }
        match self.next(1) {
            Ok(_) => Err(Error::Peer("it sent more than it offered".into())),
            Err(_) => Ok(self.summary),
        }
    }

    fn write_entry(&mut self, store: &Store, entry: &Entry, offset: u64) -> Result<(), Error> {
        let begun = store.begin(entry, offset, |file| prefix::hash(file, offset, &self.progress, &self.connection));
        let Some(mut file) = begun.map_err(|e| self.why(e))? else { return Ok(()) };
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
        Ok(())
    }

    /// That hashing was given up because the connection ended is no fault of the file.
    fn why(&self, error: Error) -> Error {
        match (error, self.connection.close_reason()) {
            (Error::File { cause, .. }, Some(closed)) if cause.kind() == io::ErrorKind::ConnectionAborted => {
                Error::lost(closed)
            }
            (error, _) => error,
        }
    }

    /// The next bytes, at least one and at most this many.
    fn next(&mut self, most: u64) -> Result<Bytes, Error> {
        while self.rest.is_empty() {
            let next = self.written.blocking_recv();
            self.rest = next.ok_or_else(|| Error::Peer("it sent less than it offered".into()))?;
        }
        Ok(self.rest.split_to(self.rest.len().min(usize::try_from(most).unwrap_or(usize::MAX))))
    }
}
