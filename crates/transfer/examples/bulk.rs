// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nothing but quinn, with its own CUBIC and its defaults: how fast one stream of zeros goes over loopback. `make bench` compares
//! `tandem send` with it.
//!
//! `bulk BYTES`: prints megabits a second.

use std::{net::Ipv4Addr, sync::Arc, time::Instant};

use quinn::{ClientConfig, Endpoint, ServerConfig};
use rcgen::{CertificateParams, KeyPair};
use rustls::{RootCertStore, pki_types::PrivateKeyDer};

const NAME: &str = "bulk";
const CHUNK_BYTES: usize = 1 << 20;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes: u64 = std::env::args().nth(1).ok_or("bulk BYTES")?.parse()?;
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new([NAME.to_owned()])?.self_signed(&key)?;
    let server = ServerConfig::with_single_cert(
        vec![certificate.der().clone()],
        PrivateKeyDer::Pkcs8(key.serialize_der().into()),
    )?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone())?;
    let receiver = Endpoint::server(server, (Ipv4Addr::LOCALHOST, 0).into())?;
    let address = receiver.local_addr()?;
    let receives = tokio::spawn(async move {
        let connection = receiver.accept().await.ok_or("nobody came")?.await.map_err(|e| e.to_string())?;
        let mut stream = connection.accept_uni().await.map_err(|e| e.to_string())?;
        let mut received = 0;
        while let Some(chunk) = stream.read_chunk(usize::MAX, false).await.map_err(|e| e.to_string())? {
            received += chunk.bytes.len() as u64;
        }
        connection.close(0u32.into(), b"");
        Ok::<u64, String>(received)
    });
    let sender = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
    let connection =
        sender.connect_with(ClientConfig::with_root_certificates(Arc::new(roots))?, address, NAME)?.await?;
    let begin = Instant::now();
    let mut stream = connection.open_uni().await?;
    let zeros = vec![0; CHUNK_BYTES];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(CHUNK_BYTES as u64);
        stream.write_all(&zeros[..now as usize]).await?;
        left -= now;
    }
    stream.finish()?;
    let received = receives.await??;
    assert_eq!(received, bytes);
    println!("{:.1}", bytes as f64 * 8.0 / begin.elapsed().as_secs_f64() / 1e6);
    Ok(())
}
