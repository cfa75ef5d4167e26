// SPDX-License-Identifier: MIT OR Apache-2.0
//! What arrives, over which paths, and what is left alone.

use std::net::SocketAddr;

use tokio::net::UdpSocket;

use super::*;

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
    let options = SendOptions { transport: Transport { controller: Some(params), ..patient() }, patience: PATIENCE };
    let source = Source::Bench(Duration::from_secs(1));
    let sent = send(&source, &receiver.ticket, &options, Arc::new(Progress::default()), |_| ()).await.unwrap();
    assert!(sent.bytes > 0 && sent.files == 0, "{sent:?}");
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
