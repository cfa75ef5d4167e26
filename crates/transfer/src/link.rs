// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections: TLS 1.3 with the certificate of the ticket, the congestion controller, and the proofs.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::Arc,
    time::Duration,
};

use quinn::{
    ClientConfig, Connection, IdleTimeout, ServerConfig, TransportConfig, VarInt,
    crypto::rustls::{QuicClientConfig, QuicServerConfig},
};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::{
    DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime},
    version::TLS13,
};
use socket2::SockRef;
use tandem_controllers::Params;
use tandem_quic::{Factory, Options};

use crate::Error;

/// The name in certificates; nobody looks at it.
pub const SERVER_NAME: &str = "tandem";
const ALPN: &[u8] = b"tandem/1";
/// A receiver takes no more than this before it is written, bytes: a gigabit over half a second.
pub const WINDOW_BYTES: u32 = 64 << 20;
/// What a socket should hold while its program does not run, bytes: 30 ms of a gigabit. Linux's default is full after 2 ms.
pub const SOCKET_BYTES: usize = 4 << 20;
/// As much as a peer may send before it has proved that it knows the secret, bytes.
const STRANGER_BYTES: u32 = 64 << 10;
const KEEP_ALIVE: Duration = Duration::from_secs(3);
const IDLE: Duration = Duration::from_secs(20);
const TLS: &str = "ring has what TLS 1.3 over QUIC needs";

/// A socket with large buffers, or with the largest that the system allows (Linux: `net.core.rmem_max`, `net.core.wmem_max`).
///
/// # Errors
/// If the port is taken, or the address is not this machine's.
pub fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    // Systems that refuse a size, rather than take less, keep their default.
    let _ = SockRef::from(&socket).set_recv_buffer_size(SOCKET_BYTES);
    let _ = SockRef::from(&socket).set_send_buffer_size(SOCKET_BYTES);
    Ok(socket)
}

/// How a connection sends.
#[derive(Clone, Debug)]
pub struct Transport {
    /// One of Tandem's controllers; `None`: quinn's own CUBIC.
    pub controller: Option<Params>,
    /// How long the other side may be silent.
    pub idle: Duration,
}

impl Default for Transport {
    fn default() -> Self {
        Self { controller: None, idle: IDLE }
    }
}

impl Transport {
    fn config(&self) -> Result<TransportConfig, Error> {
        let mut config = TransportConfig::default();
        config
            .max_concurrent_bidi_streams(VarInt::from_u32(1))
            .max_concurrent_uni_streams(VarInt::from_u32(0))
            .datagram_receive_buffer_size(None)
            .stream_receive_window(VarInt::from_u32(WINDOW_BYTES))
            .receive_window(VarInt::from_u32(STRANGER_BYTES))
            .send_window(WINDOW_BYTES.into())
            .keep_alive_interval(Some(KEEP_ALIVE.min(self.idle / 3)))
            .max_idle_timeout(IdleTimeout::try_from(self.idle).ok());
        if let Some(params) = &self.controller {
            config.congestion_controller_factory(Arc::new(Factory::new(params.clone(), Options::default())?));
        }
        Ok(config)
    }
}

/// The peer has proved itself: it may send as much as the path carries.
pub fn trust(connection: &Connection) {
    connection.set_receive_window(VarInt::from_u32(WINDOW_BYTES));
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// A receiver's certificate, new for each receiver, and what its ticket says of it.
pub fn server(transport: &Transport) -> Result<(ServerConfig, [u8; 32]), Error> {
    let key = KeyPair::generate_for(&PKCS_ED25519).expect(TLS);
    let certificate = CertificateParams::new([SERVER_NAME.to_owned()]).expect(TLS).self_signed(&key).expect(TLS);
    let hash = blake3::hash(certificate.der()).into();
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .expect(TLS)
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .expect(TLS);
    tls.alpn_protocols = vec![ALPN.to_vec()];
    // No session outlives its connection.
    tls.send_tls13_tickets = 0;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).expect(TLS)));
    config.transport_config(Arc::new(transport.config()?));
    // Each is answered at once.
    config.max_incoming(1024);
    Ok((config, hash))
}

/// A sender that trusts one certificate alone.
pub fn client(transport: &Transport, certificate: [u8; 32]) -> Result<ClientConfig, Error> {
    let pinned = Arc::new(Pinned { certificate, provider: provider() });
    let mut tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .expect(TLS)
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect(TLS)));
    config.transport_config(Arc::new(transport.config()?));
    Ok(config)
}

/// Accepts the certificate with this hash, whatever else is in it; its key must have signed the handshake.
#[derive(Debug)]
struct Pinned {
    certificate: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match blake3::hash(end_entity) == blake3::Hash::from(self.certificate) {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(rustls::Error::General("the certificate is not the ticket's".into())),
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("QUIC has TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Which side proves that it knows the secret.
#[derive(Clone, Copy)]
pub enum Side {
    Sender,
    Receiver,
}

/// A proof that `side` knows the secret. It is bound to this TLS session, so that nobody can use it in another.
pub fn proof(connection: &Connection, secret: &[u8; 16], side: Side) -> Result<blake3::Hash, Error> {
    let context: &[u8] = match side {
        Side::Sender => b"sender",
        Side::Receiver => b"receiver",
    };
    let mut session = [0; 32];
    connection
        .export_keying_material(&mut session, b"EXPORTER-tandem-transfer", context)
        .map_err(|_| Error::Connection("TLS exports no keys".into()))?;
    let key = blake3::derive_key("tandem 2026 transfer secret", secret);
    Ok(blake3::keyed_hash(&key, &session))
}
