// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading again what both sides have of a file. On a large file that takes minutes, in which nothing else crosses the network.

use std::io::{self, Read};

use quinn::Connection;

use crate::{Progress, wire::CHUNK_BYTES};

/// Hashes the first bytes of a file, and counts them. Ends early, with [`io::ErrorKind::ConnectionAborted`], if the connection does.
pub fn hash(
    file: &mut impl Read,
    bytes: u64,
    progress: &Progress,
    connection: &Connection,
) -> io::Result<blake3::Hasher> {
    let mut hasher = blake3::Hasher::new();
    let (mut left, mut chunk) = (bytes, vec![0; bytes.min(CHUNK_BYTES as u64) as usize]);
    while left > 0 {
        #[cfg(test)]
        if let Some(slow) = progress.before_hashing.lock().unwrap().as_mut() {
            slow();
        }
        if connection.close_reason().is_some() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let part = &mut chunk[..left.min(CHUNK_BYTES as u64) as usize];
        file.read_exact(part)?;
        hasher.update(part);
        left -= part.len() as u64;
        progress.add_hashed(part.len() as u64);
    }
    Ok(hasher)
}
