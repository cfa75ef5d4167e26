// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offers that are refused, and senders that do not keep to theirs. The receiver goes on.

use crate::parts::PART_BYTES;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn names_and_sizes_are_checked_before_anything_is_written() {
    let receiver = start();
    fs::write(receiver.path("file"), b"x").unwrap();
    write_file(&receiver.path("folder/file"), b"x");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/tmp", receiver.path("link")).unwrap();
    let long = "x".repeat(250);
    let deep = vec![long.as_str(); 60].join("/");
    let cases: &[(&[Offered], &str)] = &[
        (&[("../x", Some(1))], "not a valid file name"),
        (&[("/etc/x", Some(1))], "not a valid file name"),
        (&[("a/../../x", Some(1))], "not a valid file name"),
        (&[("", Some(1))], "not a valid file name"),
        (&[("a\u{202e}gpj.exe", Some(1))], "`a\\u{202e}gpj.exe` is not a valid file name"),
        (&[(".ssh/authorized_keys", Some(1))], "receive with --hidden"),
        (&[(&deep, Some(1))], "too long a name"),
        (&[("ok", Some(1)), ("ok", Some(2))], "offered twice"),
        (&[("q", Some(1)), ("q/r", Some(1))], "`q` is offered as a file and as a folder"),
        (&[("file", Some(2))], "there already"),
        (&[("file/x", Some(2))], "`file` is no folder"),
        (&[("a/b/c", Some(1)), ("folder/file/folder/x", Some(2))], "`folder/file` is no folder"),
        (&[("link/x", Some(2))], "`link` is no folder"),
        (&[("huge", Some(u64::MAX)), ("huger", Some(u64::MAX))], "no room"),
    ];
    for (offer, part) in cases {
        let why = rogue(&receiver.ticket).await.refused(offer).await;
        assert!(why.contains(part), "{offer:?}: {why}");
    }
    #[cfg(unix)]
    assert!(rogue(&receiver.ticket).await.refused(&[("link", Some(1))]).await.contains("not a regular file"));
    #[cfg(unix)]
    assert_eq!(receiver.names(), ["file", "folder", "folder/file", "link"]);
    receiver.end.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn lies_about_sizes_are_noticed() {
    for (offered, sent, part) in [(4, 3, "less than it offered"), (4, 4 + 32 + 1, "is not what the sender had")] {
        let receiver = start();
        let mut peer = rogue(&receiver.ticket).await;
        assert!(matches!(peer.offer(&[("a", Some(offered))]).await, Answer::Go(_)));
        peer.data(&vec![7; sent]).await;
        let End::Failed(why) = peer.finish().await else { panic!("accepted") };
        assert!(why.contains(part), "{why}");
        assert!(!receiver.path("a").exists());
        receiver.end.abort();
    }
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[("a", Some(4))]).await;
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

/// One stream alone, longer than may be.
#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_is_too_long_is_refused() {
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    peer.offer(&[("a", Some(4 * PART_BYTES))]).await;
    let mut stream = peer.connection.open_uni().await.unwrap();
    let _ = stream.write_all(&vec![0; PART_BYTES as usize + 1]).await;
    let End::Failed(why) = read(&mut peer.from, 1 << 16).await.unwrap() else { panic!("accepted") };
    assert_eq!(why, "a stream is too long");
    drop((peer, stream));
    assert!(receiver.broke_off().await.contains("a stream is too long"));
    receiver.end.abort();
}

/// What cannot be written ends the transfer, and not the receiver: the sender and the receiver's log are told, once each.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_written_is_told_and_the_receiver_goes_on() {
    let receiver = start();
    let mut peer = rogue(&receiver.ticket).await;
    assert!(matches!(peer.offer(&[("a", Some(4)), ("d/f", Some(4))]).await, Answer::Go(_)));
    // There was nothing in the way when the offer was looked at.
    fs::write(receiver.path("d"), b"").unwrap();
    peer.data(b"four").await;
    peer.data(blake3::hash(b"four").as_bytes()).await;
    let End::Failed(why) = peer.finish().await else { panic!("accepted") };
    let noted = receiver.broke_off().await;
    for text in [&why, &noted] {
        assert!(text.contains("d/f: ") && text.matches("os error").count() == 1, "{text}");
    }
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("b"), b"contents");
    receiver.send(&[source.path().join("b")]).await.unwrap();
    assert_eq!(receiver.names(), ["a", "b", "d"]);
    receiver.end.await.unwrap().unwrap();
}

/// Programs print the causes of an error, too; the message has them already.
#[test]
fn errors_tell_their_cause_once() {
    let error = Error::file("x")(std::io::ErrorKind::NotFound.into());
    assert!(error.to_string().starts_with("x: ") && std::error::Error::source(&error).is_none());
    // Each side has its own words for where it comes from.
    assert_eq!(Error::Peer("nothing came".into()).told(), "nothing came");
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_names_are_taken_by_whoever_wants_them() {
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join(".config/x"), b"contents");
    let receiver = start_with(tempfile::tempdir().unwrap(), |o| o.hidden = true);
    receiver.send(&[source.path().join(".config")]).await.unwrap();
    assert_eq!(fs::read(receiver.path(".config/x")).unwrap(), b"contents");
}
