// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers over the loopback interface: what arrives, what bad peers achieve, and what is left when one breaks off.

mod arrive;
mod offers;
mod resume;
mod strangers;

use std::{
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bytes::Bytes;
use quinn::{Connection, Endpoint, RecvStream, SendStream};
use tempfile::TempDir;
use tokio::{
    task::{JoinHandle, yield_now},
    time::timeout,
};

use crate::{
    Error, Limits, Note, Progress, ReceiveOptions, Receiver, SendNote, SendOptions, Source, Summary, Ticket, Transport,
    link::{SERVER_NAME, Side, client, proof},
    parts::PartWriter,
    send,
    wire::{Answer, End, Entry, MAGIC, Offer, read, write},
};

const LOOPBACK: &str = "127.0.0.1:0";
/// How long a test waits for what must happen. Only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(120);

struct Running {
    folder: TempDir,
    ticket: Ticket,
    notes: Arc<Mutex<Vec<Note>>>,
    progress: Arc<Progress>,
    end: JoinHandle<Result<Summary, Error>>,
}

/// No limit of time can be met by chance: where silence is the point, a test sets its own or turns the clock.
fn options(folder: &Path) -> ReceiveOptions {
    ReceiveOptions {
        folder: folder.to_owned(),
        listen: LOOPBACK.parse().unwrap(),
        address: None,
        force: false,
        hidden: false,
        transport: patient(),
        limits: Limits { proof: 10 * PATIENCE, stall: 10 * PATIENCE, ..Limits::default() },
    }
}

fn patient() -> Transport {
    Transport { idle: 10 * PATIENCE, ..Transport::default() }
}

fn start_with(folder: TempDir, change: impl FnOnce(&mut ReceiveOptions)) -> Running {
    let mut options = options(folder.path());
    change(&mut options);
    let receiver = Receiver::bind(&options).unwrap();
    let ticket = receiver.ticket().clone();
    let (notes, progress) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Progress::default()));
    let noted = notes.clone();
    let end = tokio::spawn(receiver.run(progress.clone(), move |note| noted.lock().unwrap().push(note)));
    Running { folder, ticket, notes, progress, end }
}

fn start() -> Running {
    start_with(tempfile::tempdir().unwrap(), |_| ())
}

/// Waits until something is so, by the machine's own clock: the runtime's may stand still.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(1));
        yield_now().await;
    }
}

/// Sends with this patience, and returns what it was told meanwhile.
async fn send_with(
    source: Source,
    ticket: &Ticket,
    patience: Duration,
    progress: &Arc<Progress>,
) -> (Result<Summary, Error>, Vec<SendNote>) {
    let mut notes = Vec::new();
    let options = SendOptions { transport: patient(), patience };
    let sending = send(&source, ticket, &options, progress.clone(), |note| notes.push(note));
    (timeout(PATIENCE, sending).await.expect("it ends"), notes)
}

impl Running {
    async fn send(&self, files: &[PathBuf]) -> Result<Summary, Error> {
        self.send_as(files, &self.ticket).await
    }

    async fn send_as(&self, files: &[PathBuf], ticket: &Ticket) -> Result<Summary, Error> {
        send_with(Source::Files(files.to_vec()), ticket, PATIENCE, &Arc::default()).await.0
    }

    fn why_broken_off(&self) -> Option<String> {
        let notes = self.notes.lock().unwrap();
        notes.iter().find_map(|n| if let Note::BrokeOff(why) = n { Some(why.clone()) } else { None })
    }

    /// Waits until a transfer has broken off, and says why.
    async fn broke_off(&self) -> String {
        until("the receiver notices", || self.why_broken_off().is_some()).await;
        self.why_broken_off().unwrap()
    }

    /// Strangers that were named.
    fn strangers(&self) -> usize {
        self.notes.lock().unwrap().iter().filter(|n| matches!(n, Note::Stranger(_))).count()
    }

    /// Waits until a file that is not complete has this many bytes.
    async fn has_of_a_part(&self, bytes: u64) {
        let arrived = || self.names().iter().any(|n| fs::metadata(self.path(n)).is_ok_and(|m| m.len() >= bytes));
        until("bytes arrive", arrived).await;
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// All names below the folder.
    fn names(&self) -> Vec<String> {
        let (mut names, mut folders) = (Vec::new(), vec![self.folder.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                names.push(entry.path().strip_prefix(self.folder.path()).unwrap().display().to_string());
            }
        }
        names.sort();
        names
    }
}

/// Bytes that differ everywhere.
fn noise(bytes: usize) -> Vec<u8> {
    let mut word = 0x9e37_79b9_u32;
    (0..bytes)
        .map(|_| {
            word ^= word << 13;
            word ^= word >> 17;
            word ^= word << 5;
            word as u8
        })
        .collect()
}

/// A peer that has the ticket and does as it likes.
struct Rogue {
    connection: Connection,
    to: SendStream,
    from: RecvStream,
    parts: PartWriter,
    _endpoint: Endpoint,
}

async fn connect(ticket: &Ticket) -> (Endpoint, Connection) {
    let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let config = client(&patient(), ticket.certificate).unwrap();
    let connection = endpoint.connect_with(config, ticket.address, SERVER_NAME).unwrap().await.unwrap();
    (endpoint, connection)
}

async fn rogue(ticket: &Ticket) -> Rogue {
    let (endpoint, connection) = connect(ticket).await;
    let (mut to, mut from) = connection.open_bi().await.unwrap();
    to.write_all(MAGIC).await.unwrap();
    to.write_all(proof(&connection, &ticket.secret, Side::Sender).unwrap().as_bytes()).await.unwrap();
    let mut theirs = [0; 32];
    from.read_exact(&mut theirs).await.unwrap();
    let parts = PartWriter::new(&connection);
    Rogue { connection, to, from, parts, _endpoint: endpoint }
}

impl Rogue {
    /// Bytes of files.
    async fn data(&mut self, bytes: &[u8]) {
        self.parts.write(Bytes::copy_from_slice(bytes)).await.unwrap();
    }

    /// No more of them; what the receiver makes of it.
    async fn finish(mut self) -> End {
        self.parts.finish().await.unwrap();
        read(&mut self.from, 1 << 16).await.unwrap()
    }

    async fn offer(&mut self, entries: &[Offered<'_>]) -> Answer {
        let entries = entries.iter().map(|&(name, size)| Entry { name: name.into(), size }).collect();
        write(&mut self.to, &Offer { entries, bench: false }).await.unwrap();
        read(&mut self.from, 1 << 20).await.unwrap()
    }

    async fn refused(&mut self, entries: &[Offered<'_>]) -> String {
        match self.offer(entries).await {
            Answer::Refused(why) => why,
            Answer::Go(_) => panic!("{entries:?} is accepted"),
        }
    }
}

/// A name, and the size of a file; a folder has none.
type Offered<'a> = (&'a str, Option<u64>);

fn write_file(path: &Path, contents: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}
