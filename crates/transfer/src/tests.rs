// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers over the loopback interface: what arrives, what bad peers achieve, and what is left when one breaks off.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use quinn::{Connection, Endpoint, RecvStream, SendStream, VarInt};
use tempfile::TempDir;
use tokio::{net::UdpSocket, task::JoinHandle, time::timeout};

use crate::{
    Error, Limits, Note, Progress, ReceiveOptions, Receiver, SendOptions, Source, Summary, Ticket, Transport,
    link::{SERVER_NAME, Side, client, proof},
    parts::{PART_BYTES, PartWriter},
    send,
    wire::{Answer, End, Entry, MAGIC, Offer, read, write},
};

const LOOPBACK: &str = "127.0.0.1:0";

struct Running {
    folder: TempDir,
    ticket: Ticket,
    notes: Arc<Mutex<Vec<Note>>>,
    end: JoinHandle<Result<Summary, Error>>,
}

fn options(folder: &Path) -> ReceiveOptions {
    ReceiveOptions {
        folder: folder.to_owned(),
        listen: LOOPBACK.parse().unwrap(),
        address: None,
        force: false,
        transport: brisk(),
        limits: Limits { proof: Duration::from_secs(2), stall: Duration::from_secs(2), ..Limits::default() },
    }
}

/// Gives a silent peer up soon.
fn brisk() -> Transport {
    Transport { idle: Duration::from_secs(3), ..Transport::default() }
}

fn start_with(folder: TempDir, change: impl FnOnce(&mut ReceiveOptions)) -> Running {
    let mut options = options(folder.path());
    change(&mut options);
    let receiver = Receiver::bind(&options).unwrap();
    let ticket = receiver.ticket().clone();
    let notes = Arc::new(Mutex::new(Vec::new()));
    let noted = notes.clone();
    let end = tokio::spawn(receiver.run(Arc::new(Progress::default()), move |note| noted.lock().unwrap().push(note)));
    Running { folder, ticket, notes, end }
}

fn start() -> Running {
    start_with(tempfile::tempdir().unwrap(), |_| ())
}

impl Running {
    async fn send(&self, files: &[PathBuf]) -> Result<Summary, Error> {
        self.send_as(files, &self.ticket).await
    }

    async fn send_as(&self, files: &[PathBuf], ticket: &Ticket) -> Result<Summary, Error> {
        let options = SendOptions { transport: brisk() };
        send(&Source::Files(files.to_vec()), ticket, &options, Arc::new(Progress::default()), |_| ()).await
    }

    /// Waits until a transfer has broken off, and says why.
    async fn broke_off(&self) -> String {
        let find = || {
            let notes = self.notes.lock().unwrap();
            notes.iter().find_map(|n| if let Note::BrokeOff(why) = n { Some(why.clone()) } else { None })
        };
        timeout(Duration::from_secs(20), async {
            loop {
                if let Some(why) = find() {
                    return why;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .expect("the receiver notices")
    }

    /// Waits until a file that is not complete has so many bytes.
    async fn has_of_a_part(&self, bytes: u64) {
        let arrived = || self.names().iter().any(|n| fs::metadata(self.path(n)).is_ok_and(|m| m.len() >= bytes));
        let wait = async {
            while !arrived() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(20), wait).await.expect("bytes arrive");
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
    let config = client(&brisk(), ticket.certificate).unwrap();
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

    async fn offer(&mut self, entries: &[(&[&str], Option<u64>)]) -> Answer {
        let entry = |(path, size): &(&[&str], Option<u64>)| Entry {
            path: path.iter().map(|&p| p.into()).collect(),
            size: *size,
        };
        let offer = Offer { entries: entries.iter().map(entry).collect(), bench: false };
        write(&mut self.to, &offer).await.unwrap();
        read(&mut self.from, 1 << 20).await.unwrap()
    }

    async fn refused(&mut self, entries: &[(&[&str], Option<u64>)]) -> String {
        match self.offer(entries).await {
            Answer::Refused(why) => why,
            Answer::Go(_) => panic!("{entries:?} is accepted"),
        }
    }
}

fn write_file(path: &Path, contents: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_and_files_arrive() {
    let source = tempfile::tempdir().unwrap();
    let at = |name: &str| source.path().join(name);
    let large = noise(9_000_000);
    write_file(&at("large.bin"), &large);
    write_file(&at("album/empty"), b"");
    for i in 0..300 {
        write_file(&at(&format!("album/{}/{i}.txt", i % 7)), format!("file {i}").as_bytes());
    }
    fs::create_dir_all(at("album/nothing")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", at("album/link")).unwrap();
    for listen in [LOOPBACK, "[::1]:0"] {
        let receiver = start_with(tempfile::tempdir().unwrap(), |o| o.listen = listen.parse().unwrap());
        let sent = receiver.send(&[at("large.bin"), at("album")]).await.unwrap();
        assert_eq!((sent.files, sent.unchanged), (302, 0), "{listen}");
        assert_eq!(fs::read(receiver.path("large.bin")).unwrap(), large);
        assert_eq!(fs::read(receiver.path("album/5/12.txt")).unwrap(), b"file 12");
        let names = receiver.names();
        // 302 files, `album`, `nothing` and seven folders; no link, nothing that is not complete.
        assert_eq!(names.len(), 311, "{names:?}");
        assert!(
            receiver.path("album/nothing").is_dir() && !names.iter().any(|n| n.contains(".part") || n.contains("link"))
        );
        let received = receiver.end.await.unwrap().unwrap();
        assert_eq!(received.files, 302);
    }
}

/// The same again sends nothing but hashes; a file that differs is not overwritten without force.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_overwritten() {
    let source = tempfile::tempdir().unwrap();
    let file = source.path().join("a");
    write_file(&file, b"new");
    let receiver = start();
    fs::write(receiver.path("a"), b"new").unwrap();
    let sent = receiver.send(std::slice::from_ref(&file)).await.unwrap();
    assert_eq!((sent.files, sent.unchanged), (1, 1));
    let Running { folder, .. } = receiver;
    for old in [&b"old"[..], b"older"] {
        fs::write(folder.path().join("a"), old).unwrap();
        let receiver = start_with(tempfile::tempdir().unwrap(), |o| o.folder = folder.path().to_owned());
        let error = receiver.send(std::slice::from_ref(&file)).await.unwrap_err().to_string();
        assert!(error.contains("`a` is there already") && error.contains("--force"), "{error}");
        assert_eq!(fs::read(folder.path().join("a")).unwrap(), old);
        receiver.end.abort();
    }
    let receiver = start_with(tempfile::tempdir().unwrap(), |o| (o.folder, o.force) = (folder.path().to_owned(), true));
    receiver.send(&[file]).await.unwrap();
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"new");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_ticket_learns_nothing() {
    let source = tempfile::tempdir().unwrap();
    let file = source.path().join("a");
    write_file(&file, b"contents");
    let receiver = start();
    let other_secret = Ticket { secret: [0; 16], ..receiver.ticket.clone() };
    let other_certificate = Ticket { certificate: [0; 32], ..receiver.ticket.clone() };
    let error = receiver.send_as(std::slice::from_ref(&file), &other_secret).await.unwrap_err();
    assert!(matches!(error, Error::Ticket(_)), "{error}");
    let error = receiver.send_as(std::slice::from_ref(&file), &other_certificate).await.unwrap_err();
    assert!(matches!(error, Error::Ticket(_)), "{error}");
    assert!(receiver.names().is_empty());
    // A stranger gets no proof of the receiver's, only the end.
    let (_endpoint, connection) = connect(&receiver.ticket).await;
    let (mut to, mut from) = connection.open_bi().await.unwrap();
    to.write_all(&[7; 40]).await.unwrap();
    assert!(from.read_to_end(64).await.is_err());
    // Who has it is not disturbed.
    receiver.send(&[file]).await.unwrap();
}

/// A proof is good for the TLS session that it was made in, and a ticket for one transfer.
#[tokio::test(flavor = "multi_thread")]
async fn replays_are_refused() {
    let receiver = start();
    let (_first_endpoint, first) = connect(&receiver.ticket).await;
    let heard = proof(&first, &receiver.ticket.secret, Side::Sender).unwrap();
    let (_second_endpoint, second) = connect(&receiver.ticket).await;
    let (mut to, mut from) = second.open_bi().await.unwrap();
    to.write_all(MAGIC).await.unwrap();
    to.write_all(heard.as_bytes()).await.unwrap();
    assert!(from.read_to_end(64).await.is_err());
    drop((first, second));
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), b"contents");
    receiver.send(&[source.path().join("a")]).await.unwrap();
    fs::remove_file(receiver.path("a")).unwrap();
    let again = receiver.send(&[source.path().join("a")]).await.unwrap_err();
    assert!(matches!(again, Error::Connection(_)), "{again}");
    assert!(receiver.names().is_empty());
}

/// Parts of a name, and the size of a file; a folder has none.
type Offered = (&'static [&'static str], Option<u64>);

#[tokio::test(flavor = "multi_thread")]
async fn names_and_sizes_are_checked_before_anything_is_written() {
    let receiver = start();
    fs::write(receiver.path("file"), b"x").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/tmp", receiver.path("link")).unwrap();
    let cases: [(&[Offered], &str); 9] = [
        (&[(&["..", "x"], Some(1))], "no name"),
        (&[(&["/etc/x"], Some(1))], "no name"),
        (&[(&["a/../../x"], Some(1))], "no name"),
        (&[(&[], Some(1))], "no name"),
        (&[(&["ok"], Some(1)), (&["ok"], Some(2))], "offered twice"),
        (&[(&["file"], Some(2))], "there already"),
        (&[(&["file", "x"], Some(2))], "no folder"),
        (&[(&["link", "x"], Some(2))], "no folder"),
        (&[(&["huge"], Some(u64::MAX)), (&["huger"], Some(u64::MAX))], "no room"),
    ];
    for (offer, part) in cases {
        let why = rogue(&receiver.ticket).await.refused(offer).await;
        assert!(why.contains(part), "{offer:?}: {why}");
    }
    #[cfg(unix)]
    assert!(rogue(&receiver.ticket).await.refused(&[(&["link"], Some(1))]).await.contains("no plain file"));
    assert!(receiver.names().iter().all(|n| n == "file" || n == "link"));
    receiver.end.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn lies_about_sizes_are_noticed() {
    for (offered, sent, part) in [(4, 3, "less than it offered"), (4, 4 + 32 + 1, "is not what the sender had")] {
        let receiver = start();
        let mut peer = rogue(&receiver.ticket).await;
        assert!(matches!(peer.offer(&[(&["a"], Some(offered))]).await, Answer::Go(_)));
        peer.data(&vec![7; sent]).await;
        let End::Failed(why) = peer.finish().await else { panic!("accepted") };
        assert!(why.contains(part), "{why}");
        assert!(!receiver.path("a").exists());
        receiver.end.abort();
    }
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[(&["a"], Some(4))]).await;
    let mut bytes = b"four".to_vec();
    bytes.extend_from_slice(blake3::hash(b"four").as_bytes());
    bytes.push(0);
    peer.data(&bytes).await;
    let End::Failed(why) = peer.finish().await else { panic!("accepted") };
    assert!(why.contains("more than it offered"), "{why}");
    // A length that is a lie takes no memory, and is refused if it is beyond the limit.
    let mut peer = rogue(&receiver.ticket).await;
    peer.to.write_all(&u32::MAX.to_be_bytes()).await.unwrap();
    let End::Failed(why) = read(&mut peer.from, 1 << 16).await.unwrap() else { panic!("accepted") };
    assert!(why.contains("4294967295 bytes"), "{why}");
    receiver.end.abort();
}

/// What has come stays under another name, and the next transfer goes on with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_goes_on_where_it_broke_off() {
    let contents = noise(3_000_000);
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), &contents);
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[(&["a"], Some(3_000_000))]).await;
    peer.data(&contents[..2_000_000]).await;
    // Closes in the middle, once most of that has arrived.
    receiver.has_of_a_part(1_950_000).await;
    peer.connection.close(VarInt::from_u32(9), b"");
    receiver.broke_off().await;
    assert!(!receiver.path("a").exists());
    assert_eq!(receiver.names().len(), 1);
    let sent = receiver.send(&[source.path().join("a")]).await.unwrap();
    assert!(sent.bytes < 1_100_000, "{sent:?}");
    assert_eq!(fs::read(receiver.path("a")).unwrap(), contents);
    assert_eq!(receiver.names(), ["a"]);
}

/// What was there of a file turns out to be another's: nothing wrong gets the name, and the next transfer begins anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_is_sent_anew() {
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), &noise(100_000));
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[(&["a"], Some(100_000))]).await;
    peer.data(&[0; 50_000]).await;
    receiver.has_of_a_part(1).await;
    peer.connection.close(VarInt::from_u32(9), b"");
    receiver.broke_off().await;
    let error = receiver.send(&[source.path().join("a")]).await.unwrap_err().to_string();
    assert!(error.contains("it changed"), "{error}");
    receiver.send(&[source.path().join("a")]).await.unwrap();
    assert_eq!(fs::read(receiver.path("a")).unwrap(), noise(100_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_stalls_is_given_up() {
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[(&["a"], Some(1_000_000))]).await;
    peer.data(&[0; 1000]).await;
    assert!(receiver.broke_off().await.contains("nothing came for 2 s"));
    receiver.end.abort();
}

/// Strangers that say nothing hold a few places until their time is up; then whoever has the ticket gets in.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_strangers_is_bounded() {
    let receiver = start();
    let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let config = client(&brisk(), receiver.ticket.certificate).unwrap();
    let mut open = Vec::new();
    for _ in 0..60 {
        let connecting = endpoint.connect_with(config.clone(), receiver.ticket.address, SERVER_NAME).unwrap();
        open.push(tokio::spawn(async move { connecting.await.ok() }));
    }
    let mut let_in = Vec::new();
    for connecting in open {
        let_in.extend(connecting.await.unwrap());
    }
    assert!(let_in.len() <= Limits::default().strangers, "{}", let_in.len());
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), b"contents");
    receiver.send(&[source.path().join("a")]).await.unwrap();
}

/// A NAT gives the sender another port in the middle: the connection goes on (RFC 9000 section 9).
#[tokio::test(flavor = "multi_thread")]
async fn a_nat_may_rebind() {
    let source = tempfile::tempdir().unwrap();
    let contents = noise(8_000_000);
    write_file(&source.path().join("a"), &contents);
    let receiver = start();
    let nat = UdpSocket::bind(LOOPBACK).await.unwrap();
    let ticket = Ticket { address: nat.local_addr().unwrap(), ..receiver.ticket.clone() };
    let server = receiver.ticket.address;
    let ports = Arc::new(Mutex::new(Vec::new()));
    let used = ports.clone();
    tokio::spawn(async move {
        let mut outside = UdpSocket::bind(LOOPBACK).await.unwrap();
        let (mut sender, mut passed) = (None::<SocketAddr>, 0);
        let (mut inward, mut outward) = (vec![0; 65536], vec![0; 65536]);
        loop {
            tokio::select! {
                Ok((bytes, from)) = nat.recv_from(&mut inward) => {
                    sender = Some(from);
                    passed += 1;
                    if passed == 1500 {
                        outside = UdpSocket::bind(LOOPBACK).await.unwrap();
                    }
                    let port = outside.local_addr().unwrap().port();
                    if used.lock().unwrap().last() != Some(&port) {
                        used.lock().unwrap().push(port);
                    }
                    let _ = outside.send_to(&inward[..bytes], server).await;
                }
                Ok((bytes, _)) = outside.recv_from(&mut outward) => {
                    if let Some(sender) = sender {
                        let _ = nat.send_to(&outward[..bytes], sender).await;
                    }
                }
            }
        }
    });
    receiver.send_as(&[source.path().join("a")], &ticket).await.unwrap();
    assert_eq!(fs::read(receiver.path("a")).unwrap(), contents);
    assert_eq!(ports.lock().unwrap().len(), 2);
}

/// One stream alone, longer than may be.
#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_is_too_long_is_refused() {
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[(&["a"], Some(4 * PART_BYTES))]).await;
    let mut stream = peer.connection.open_uni().await.unwrap();
    let _ = stream.write_all(&vec![0; PART_BYTES as usize + 1]).await;
    assert!(receiver.broke_off().await.contains("a stream is too long"));
    receiver.end.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_is_said_at_once() {
    let receiver = start();
    let bind = |change: &dyn Fn(&mut ReceiveOptions)| {
        let mut options = options(receiver.folder.path());
        change(&mut options);
        Receiver::bind(&options).map(|_| ()).unwrap_err().to_string()
    };
    let taken = bind(&|o| o.listen = receiver.ticket.address);
    assert!(taken.contains(&receiver.ticket.address.to_string()) && taken.contains("choose another port"), "{taken}");
    // A folder where nobody may make files, not even root.
    #[cfg(target_os = "linux")]
    assert!(bind(&|o| o.folder = "/proc/self/fdinfo".into()).contains("/proc/self/fdinfo"));
    let file = receiver.path("file");
    fs::write(&file, b"").unwrap();
    assert!(bind(&|o| o.folder = file.clone()).contains("file"));
    let error = receiver.send(&[receiver.path("none")]).await.unwrap_err().to_string();
    assert!(error.contains("none: "), "{error}");
    receiver.end.abort();
}

/// Zeros for a second, thrown away; with one of our controllers.
#[tokio::test(flavor = "multi_thread")]
async fn a_bench_leaves_nothing() {
    let receiver = start();
    let params = tandem_controllers::Params::new(tandem_controllers::find("compound_tube").unwrap());
    let options = SendOptions { transport: Transport { controller: Some(params), ..brisk() } };
    let source = Source::Bench(Duration::from_secs(1));
    let sent = send(&source, &receiver.ticket, &options, Arc::new(Progress::default()), |_| ()).await.unwrap();
    assert!(sent.bytes > 1_000_000 && sent.files == 0, "{sent:?}");
    assert_eq!(receiver.end.await.unwrap().unwrap().bytes, sent.bytes);
    assert!(receiver.folder.path().read_dir().unwrap().next().is_none());
}

/// Linux gives twice the size that is asked for, and no more than twice its limit (socket(7)).
#[cfg(target_os = "linux")]
#[test]
fn sockets_have_large_buffers() {
    use crate::link::{SOCKET_BYTES, bind};
    let limit: usize = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap().trim().parse().unwrap();
    let socket = bind(LOOPBACK.parse().unwrap()).unwrap();
    let size = socket2::SockRef::from(&socket).recv_buffer_size().unwrap();
    assert_eq!(size, 2 * limit.min(SOCKET_BYTES));
}
