// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers that break off, stand still or take long to begin, and go on.

use std::sync::mpsc;

use quinn::VarInt;
use tokio::time::{advance, pause, resume};

use crate::{
    send::TELL,
    wire::{CHUNK_BYTES, Hashed},
};

use super::*;

/// The limit in these tests, on a clock that they turn.
const STALL: Duration = Duration::from_secs(60);

fn start_with_stall() -> Running {
    start_with(tempfile::tempdir().unwrap(), |o| o.limits.stall = STALL)
}

/// What has come stays under another name, and the next transfer goes on with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_goes_on_where_it_broke_off() {
    let contents = noise(3_000_000);
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), &contents);
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[("a", Some(3_000_000))]).await;
    peer.data(&contents[..2_000_000]).await;
    // Closes in the middle, once most of that has been written.
    receiver.has_of_a_part(1_500_000).await;
    peer.connection.close(VarInt::from_u32(9), b"");
    receiver.broke_off().await;
    assert!(!receiver.path("a").exists());
    assert_eq!(receiver.names().len(), 1);
    let sent = receiver.send(&[source.path().join("a")]).await.unwrap();
    assert!(sent.bytes < 1_500_100, "{sent:?}");
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
    peer.offer(&[("a", Some(100_000))]).await;
    peer.data(&[0; 50_000]).await;
    // That is less than is written at once: it is written when the connection ends.
    until("bytes arrive", || receiver.progress.done() == 50_000).await;
    peer.connection.close(VarInt::from_u32(9), b"");
    receiver.broke_off().await;
    let error = receiver.send(&[source.path().join("a")]).await.unwrap_err().to_string();
    assert!(error.contains("it changed"), "{error}");
    receiver.send(&[source.path().join("a")]).await.unwrap();
    assert_eq!(fs::read(receiver.path("a")).unwrap(), noise(100_000));
}

/// Turns the clock until a transfer has broken off, and says why.
async fn broke_off_in_time(receiver: &Running) -> String {
    let start = Instant::now();
    loop {
        if let Some(why) = receiver.why_broken_off() {
            return why;
        }
        assert!(start.elapsed() < PATIENCE, "the receiver notices");
        std::thread::sleep(Duration::from_millis(1));
        advance(Duration::from_secs(1)).await;
    }
}

/// Turns the clock in small steps: an ACK that is awaited meanwhile measures a step more of RTT.
async fn turn(time: Duration) {
    let step = Duration::from_millis(100);
    for _ in 0..time.as_millis() / step.as_millis() {
        advance(step).await;
        yield_now().await;
    }
}

/// While the receiver's writing thread runs, the runtime's clock stands still except for what the test turns.
#[tokio::test]
async fn a_peer_that_stalls_is_given_up() {
    let receiver = start_with_stall();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[("a", Some(1_000_000))]).await;
    peer.data(&[0; 1000]).await;
    pause();
    advance(STALL - Duration::from_secs(1)).await;
    yield_now().await;
    assert_eq!(receiver.why_broken_off(), None);
    assert_eq!(broke_off_in_time(&receiver).await, "the other side broke off: nothing came for 60 s");
    receiver.end.abort();
}

/// The same number again, or more than there is, is no progress.
#[tokio::test]
async fn hashing_that_stands_still_is_a_stall() {
    let receiver = start_with_stall();
    fs::write(receiver.path("a"), [7; 1000]).unwrap();
    let mut peer = rogue(&receiver.ticket).await;
    assert!(matches!(peer.offer(&[("a", Some(1000))]).await, Answer::Go(offsets) if offsets == [1000]));
    pause();
    write(&mut peer.to, &Hashed(400)).await.unwrap();
    until("it hears that", || receiver.progress.hashed() == 400).await;
    for hashed in [400, 300, 1001, 400] {
        // The last ones come too late.
        let _ = write(&mut peer.to, &Hashed(hashed)).await;
        advance(STALL / 3).await;
    }
    assert!(broke_off_in_time(&receiver).await.contains("nothing came for 60 s"));
    assert_eq!(receiver.progress.hashed(), 400);
    receiver.end.abort();
}

/// The sender needs far longer than the limit to read again what both have: it says how far it is, and the receiver waits.
#[tokio::test]
async fn long_hashing_is_no_stall() {
    const CHUNKS: u64 = 4;
    let contents = noise(CHUNKS as usize * CHUNK_BYTES);
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), &contents);
    let receiver = start_with_stall();
    write_file(&receiver.path("a"), &contents);
    let (reached, mut reaches) = tokio::sync::mpsc::unbounded_channel();
    let (permit, permits) = mpsc::channel();
    let progress = Arc::new(Progress::default());
    *progress.before_hashing.lock().unwrap() = Some(Box::new(move || {
        let _ = reached.send(());
        let _ = permits.recv();
    }));
    let sending = {
        let (ticket, source, progress) = (receiver.ticket.clone(), source.path().join("a"), progress.clone());
        let options = SendOptions { transport: patient(), patience: PATIENCE };
        tokio::spawn(async move { send(&Source::Files(vec![source]), &ticket, &options, progress, |_| ()).await })
    };
    reaches.recv().await.unwrap();
    pause();
    for chunk in 1..CHUNKS {
        permit.send(()).unwrap();
        reaches.recv().await.unwrap();
        turn(2 * TELL).await;
        let hashed = chunk * CHUNK_BYTES as u64;
        until("the receiver hears of the sender's hashing", || receiver.progress.hashed() == hashed).await;
        turn(STALL - Duration::from_secs(10)).await;
    }
    resume();
    drop(permit);
    let sent = sending.await.unwrap().unwrap();
    assert_eq!((sent.files, sent.unchanged, sent.bytes), (1, 1, 32));
    assert_eq!((progress.hashed(), progress.to_hash()), (contents.len() as u64, contents.len() as u64));
    receiver.end.await.unwrap().unwrap();
    assert!(!receiver.notes.lock().unwrap().iter().any(|n| matches!(n, Note::BrokeOff(_))));
}
