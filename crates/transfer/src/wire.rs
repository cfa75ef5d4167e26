// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of the two sides: proofs, the offer, the answer and the end on one stream; the files on streams of their own ([`crate::parts`]).
//!
//! ```text
//! sender                        receiver
//! MAGIC, proof (32 bytes)  -->
//!                          <--  proof (32 bytes)
//! Offer                    -->
//!                          <--  Answer
//! for each file: the bytes from the offset on, BLAKE3 of the whole file (32 bytes), in parts
//!                          ==>
//! Hashed, while it reads what is there already, once a second
//!                          -->
//!                          <--  End
//! ```
//! Offer, answer, hashed and end are JSON after their length (4 bytes, the most significant first).

use quinn::{RecvStream, SendStream};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Error, names::shown};

pub const MAGIC: &[u8; 8] = b"tandem/1";
/// Bytes of a file that are handed on at once.
pub const CHUNK_BYTES: usize = 256 << 10;
/// Room for [`Hashed`].
pub const HASHED_BYTES: usize = 64;

/// What the sender has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Offer {
    pub entries: Vec<Entry>,
    /// The data is only measured, and discarded.
    #[serde(default)]
    pub bench: bool,
}

/// A file or an empty folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Below the receiver's folder; `/` between its parts.
    pub name: String,
    /// Bytes; `None`: a folder.
    pub size: Option<u64>,
}

/// What the receiver wants of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// For each entry, how many bytes are there already.
    Go(Vec<u64>),
    Refused(String),
}

/// How many of the bytes that are there already the sender has hashed: no other byte comes meanwhile, and it is not gone.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Hashed(pub u64);

/// The result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum End {
    Done,
    Failed(String),
}

pub async fn write(stream: &mut SendStream, message: &impl Serialize) -> Result<(), Error> {
    let json = serde_json::to_vec(message).map_err(|e| Error::Peer(e.to_string()))?;
    let length =
        u32::try_from(json.len()).map_err(|_| Error::Nothing("there are too many files for one transfer".into()))?;
    stream.write_all(&length.to_be_bytes()).await.map_err(Error::lost)?;
    stream.write_all(&json).await.map_err(Error::lost)
}

/// Reads a message of at most this many bytes.
pub async fn read<M: DeserializeOwned>(stream: &mut RecvStream, max_bytes: usize) -> Result<M, Error> {
    understand(&read_json(stream, max_bytes).await?)
}

/// Reads a message without parsing it.
pub async fn read_json(stream: &mut RecvStream, max_bytes: usize) -> Result<Vec<u8>, Error> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.map_err(Error::lost)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > max_bytes {
        return Err(Error::Peer(format!("a message of {length} bytes, {max_bytes} are allowed")));
    }
    // Grows as bytes come: a length alone takes no memory.
    let mut json = Vec::new();
    while json.len() < length {
        match stream.read_chunk(length - json.len(), true).await.map_err(Error::lost)? {
            Some(chunk) => json.extend_from_slice(&chunk.bytes),
            None => return Err(Error::Peer("it ended in the middle of a message".into())),
        }
    }
    Ok(json)
}

pub fn understand<M: DeserializeOwned>(json: &[u8]) -> Result<M, Error> {
    serde_json::from_slice(json)
        .map_err(|e| Error::Peer(format!("a message that makes no sense: {}", shown(&e.to_string()))))
}
