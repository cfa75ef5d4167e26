// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the stack is set up. What it would draw by chance comes from the seed; keys do not, but all have the same length, so that no packet's
//! size depends on them.

use std::sync::{Arc, LazyLock};

use noq_proto::{
    AckFrequencyConfig, ClientConfig, EndpointConfig, ServerConfig, TransportConfig, VarInt,
    congestion::{Bbr3Config, CubicConfig, NewRenoConfig},
    crypto::rustls::{QuicClientConfig, QuicServerConfig},
};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::{RootCertStore, crypto::ring, pki_types::PrivateKeyDer, version::TLS13};
use tandem_controllers::Params;
use tandem_quic::{Options, PacedFactory};
use tandem_scenario::{CongestionControl, Noq, TcpSource};

/// The name in the certificate.
pub const SERVER_NAME: &str = "receiver";
/// What a receiver accepts if the scenario does not say: as much as TCP could express (RFC 7323).
const MAX_WINDOW_BYTES: u64 = 1 << 30;
/// What the application hands over before the stack must have sent some of it, bytes.
pub const SEND_BUFFER_BYTES: u64 = 64 << 20;

/// One flow.
pub struct Setup<'a> {
    pub source: &'a TcpSource,
    pub datagram_bytes: u16,
    pub unit_bytes: u32,
    pub seed: [u64; 2],
}

/// TLS for both ends. Ed25519 signatures all have the same length.
struct Tls {
    client: Arc<QuicClientConfig>,
    server: Arc<QuicServerConfig>,
}

static TLS: LazyLock<Tls> = LazyLock::new(|| {
    let key = KeyPair::generate_for(&PKCS_ED25519).expect("ring makes Ed25519 keys");
    let params = CertificateParams::new([SERVER_NAME.to_owned()]).expect("the name is a host's");
    let certificate = params.self_signed(&key).expect("the key signs");
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).expect("the certificate is well-formed");
    let provider = Arc::new(ring::default_provider());
    let tls = "ring has TLS 1.3";
    let client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])
        .expect(tls)
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect(tls)
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .expect("key and certificate fit");
    server.send_tls13_tickets = 0;
    Tls { client: Arc::new(client.try_into().expect(tls)), server: Arc::new(server.try_into().expect(tls)) }
});

impl Setup<'_> {
    fn transport(&self) -> TransportConfig {
        let mut transport = TransportConfig::default();
        let window = self
            .source
            .receive_window
            .map_or(MAX_WINDOW_BYTES, |packets| u64::from(packets) * u64::from(self.unit_bytes));
        let window = VarInt::from_u64(window).expect("2^30 or less in packets");
        transport
            .initial_mtu(self.datagram_bytes)
            .mtu_discovery_config(None)
            .max_idle_timeout(None)
            .send_window(SEND_BUFFER_BYTES)
            .stream_receive_window(window)
            .receive_window(window)
            .enable_segmentation_offload(false);
        if !self.source.delayed_acks {
            let mut each = AckFrequencyConfig::default();
            each.ack_eliciting_threshold(VarInt::from_u32(0));
            transport.ack_frequency_config(Some(each));
        }
        let options =
            Options { initial_window: Some(self.source.initial_window), virtual_time: true, ..Options::default() };
        match &self.source.controller {
            CongestionControl::Tandem(params) => {
                let factory =
                    PacedFactory::new(Params::clone(params), options).expect("`check` refuses those that count marks");
                transport.congestion_controller_factory(Arc::new(factory))
            }
            CongestionControl::Noq(Noq::Reno) => {
                transport.congestion_controller_factory(Arc::new(NewRenoConfig::default()))
            }
            CongestionControl::Noq(Noq::Cubic) => {
                transport.congestion_controller_factory(Arc::new(CubicConfig::default()))
            }
            CongestionControl::Noq(Noq::Bbr3) => {
                transport.congestion_controller_factory(Arc::new(Bbr3Config::default()))
            }
            CongestionControl::Kernel(name) => unreachable!("`check` refuses `kernel:{name}`"),
        };
        transport
    }

    pub fn endpoint(&self, end: u8) -> Arc<EndpointConfig> {
        let mut config = EndpointConfig::default();
        let mut seed = [end; 32];
        seed[..8].copy_from_slice(&self.seed[0].to_le_bytes());
        seed[8..16].copy_from_slice(&self.seed[1].to_le_bytes());
        config.rng_seed(Some(seed));
        config.max_udp_payload_size(self.datagram_bytes.min(65527)).expect("at least 1200 bytes");
        Arc::new(config)
    }

    pub fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new(TLS.client.clone());
        config.transport_config(Arc::new(self.transport()));
        config
    }

    pub fn server(&self) -> Arc<ServerConfig> {
        let mut config = ServerConfig::with_crypto(TLS.server.clone());
        config.transport_config(Arc::new(self.transport()));
        Arc::new(config)
    }
}
