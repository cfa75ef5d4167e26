// SPDX-License-Identifier: MIT OR Apache-2.0
//! Those who have no ticket: what they learn, and what they can keep from others.

use tokio::net::UdpSocket;

use crate::{link::server, strangers::let_in};

use super::*;

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
    let files = Source::Files(vec![source.path().join("a")]);
    let again = send_with(files, &receiver.ticket, Duration::from_secs(1), &Arc::default()).await.0.unwrap_err();
    assert!(matches!(again, Error::Connection(_)), "{again}");
    assert!(receiver.names().is_empty());
}

/// Strangers that say nothing have a few places, and lose them to newcomers; and the log names a few of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_strangers_is_bounded() {
    const PLACES: usize = 16;
    const STRANGERS: usize = 60;
    let receiver = start_with(tempfile::tempdir().unwrap(), |o| o.limits.strangers = PLACES);
    let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let config = client(&patient(), receiver.ticket.certificate).unwrap();
    let mut open = Vec::new();
    for _ in 0..STRANGERS {
        let connecting = endpoint.connect_with(config.clone(), receiver.ticket.address, SERVER_NAME).unwrap();
        open.push(tokio::spawn(async move { connecting.await.ok() }));
    }
    let mut let_in = Vec::new();
    for connecting in open {
        let_in.push(connecting.await.unwrap());
    }
    let here = || let_in.iter().flatten().filter(|connection| connection.close_reason().is_none()).count();
    until("the oldest are put out", || here() == PLACES).await;
    // None of them is given up for its silence: the limit is far away. The sender takes the place of one.
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), b"contents");
    receiver.send(&[source.path().join("a")]).await.unwrap();
    assert_eq!(receiver.strangers(), 10);
}

/// A peer that does not show that an address is its own gets an answer that is shorter than the question, and no place, and no line in the log.
#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_not_validated_cost_nothing() {
    const STRANGERS: usize = 20;
    let receiver = start_with(tempfile::tempdir().unwrap(), |o| o.limits.strangers = 1);
    // What a stranger sends with the address of somebody else: the answers go astray.
    let (inside, outside) = (UdpSocket::bind(LOOPBACK).await.unwrap(), UdpSocket::bind(LOOPBACK).await.unwrap());
    outside.connect(receiver.ticket.address).await.unwrap();
    let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let config = client(&patient(), receiver.ticket.certificate).unwrap();
    let (mut datagram, mut connecting) = ([0; 2048], Vec::new());
    for _ in 0..STRANGERS {
        let to = inside.local_addr().unwrap();
        connecting.push(endpoint.connect_with(config.clone(), to, SERVER_NAME).unwrap());
        let asked = timeout(PATIENCE, inside.recv(&mut datagram)).await.unwrap().unwrap();
        outside.send(&datagram[..asked]).await.unwrap();
        let answered = timeout(PATIENCE, outside.recv(&mut datagram)).await.unwrap().unwrap();
        assert!(answered < asked / 4, "{answered} bytes for {asked}");
    }
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), b"contents");
    receiver.send(&[source.path().join("a")]).await.unwrap();
    assert_eq!(receiver.strangers(), 0);
}

/// A receiver that has no place, and then breaks off, is tried again.
#[tokio::test(flavor = "multi_thread")]
async fn a_sender_tries_again() {
    let (config, certificate) = server(&patient()).unwrap();
    let endpoint = Endpoint::server(config, LOOPBACK.parse().unwrap()).unwrap();
    let ticket = Ticket { address: endpoint.local_addr().unwrap(), certificate, secret: [7; 16] };
    let expected = ticket.clone();
    let receiver = tokio::spawn(async move {
        endpoint.accept().await.unwrap().refuse();
        drop(endpoint.accept().await.unwrap().await.unwrap());
        let mut proved = let_in(endpoint.accept().await.unwrap(), &expected).await.expect("it has the ticket");
        write(&mut proved.to, &Answer::Refused("seen".into())).await.unwrap();
        proved.connection.closed().await;
    });
    let source = tempfile::tempdir().unwrap();
    write_file(&source.path().join("a"), b"contents");
    let files = Source::Files(vec![source.path().join("a")]);
    let (result, notes) = send_with(files, &ticket, PATIENCE, &Arc::default()).await;
    assert!(matches!(&result, Err(Error::Refused(why)) if why == "seen"), "{result:?}");
    assert!(matches!(&notes[..], [SendNote::TriesAgain(_)]), "{notes:?}");
    receiver.await.unwrap();
}
