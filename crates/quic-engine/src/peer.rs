// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end of a connection: noq's endpoint and connection, without a socket.

use std::{
    net::{Ipv6Addr, SocketAddr},
    num::NonZeroUsize,
    sync::Arc,
    time::Instant,
};

use bytes::BytesMut;
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event, FourTuple,
};
use tandem_network::End;
use tandem_sim::Port;

use crate::config::{SERVER_NAME, Setup};

/// The address of the other end, for both: there are no others.
fn address() -> SocketAddr {
    SocketAddr::from((Ipv6Addr::LOCALHOST, 4433))
}

pub struct Peer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The end that its datagrams go to.
    to: End,
}

impl Peer {
    /// The end that listens.
    pub fn receiver(setup: &Setup) -> Self {
        let endpoint = Endpoint::new(setup.endpoint(2), Some(setup.server()), false);
        Self { endpoint, connection: None, to: End::Senders }
    }

    /// The end that connects, at once.
    pub fn sender(endpoint: Arc<EndpointConfig>, client: ClientConfig, now: Instant) -> Self {
        let mut endpoint = Endpoint::new(endpoint, None, false);
        let connection = endpoint.connect(now, client, address(), SERVER_NAME);
        Self { endpoint, connection: Some(connection.expect("address and name are good")), to: End::Receivers }
    }

    pub fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// The connection, to look at.
    pub fn shown(&self) -> Option<&Connection> {
        self.connection.as_ref().map(|(_, connection)| connection)
    }

    /// A datagram has arrived.
    pub fn take(&mut self, now: Instant, datagram: &[u8], port: &mut Port) {
        let mut answer = Vec::new();
        let path = FourTuple::from_remote(address());
        match self.endpoint.handle(now, path, None, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((_, connection)) = self.connection.as_mut().filter(|(own, _)| *own == handle) {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => {
                answer.truncate(transmit.size);
                port.send_datagram(self.to, answer);
            }
            None => {}
        }
    }

    /// Lets due timers fire.
    pub fn fire(&mut self, now: Instant) {
        let Some((_, connection)) = &mut self.connection else { return };
        while connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
    }

    /// What has happened, for the application.
    pub fn poll(&mut self) -> Option<Event> {
        self.connection()?.poll()
    }

    /// Passes on what connection and endpoint tell each other, and sends what may be sent.
    pub fn send(&mut self, now: Instant, port: &mut Port) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut datagram = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, NonZeroUsize::MIN, &mut datagram) {
            datagram.truncate(transmit.size);
            port.send_datagram(self.to, std::mem::take(&mut datagram));
        }
    }

    pub fn wake_at(&self) -> Option<Instant> {
        self.connection.as_ref().and_then(|(_, connection)| connection.poll_timeout())
    }
}
