// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of all files, over short streams, one after another.
//!
//! quinn closes a connection as soon as one stream has 1024 gaps. A slow start that overshoots a long fat path leaves thousands: it loses
//! every other packet of a whole window. A short stream cannot have this many, and quinn bounds the memory of all of them.

use bytes::Bytes;
use quinn::{Connection, RecvStream, SendStream, VarInt};

use crate::Error;

/// Bytes of each stream but the last, which is shorter: 874 packets of the smallest size that QUIC allows.
pub const PART_BYTES: u64 = 1 << 20;
/// Every other of the smallest packets lost, headers taken off.
const _: () = assert!(PART_BYTES / 1100 / 2 < 1024);

/// Writes the bytes.
pub struct PartWriter {
    connection: Connection,
    stream: Option<SendStream>,
    /// Bytes that the stream still takes.
    left: u64,
    /// The next stream's. Each is less urgent than the one before, so that what is lost of that goes first.
    priority: i32,
}

impl PartWriter {
    pub fn new(connection: &Connection) -> Self {
        Self { connection: connection.clone(), stream: None, left: 0, priority: 0 }
    }

    /// Waits until the path has taken them.
    pub async fn write(&mut self, mut bytes: Bytes) -> Result<(), Error> {
        while !bytes.is_empty() {
            if self.left == 0 {
                self.begin().await?;
            }
            let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            if let Some(stream) = &mut self.stream {
                stream.write_chunk(bytes.split_to(most)).await.map_err(Error::lost)?;
                self.left -= most as u64;
            }
        }
        Ok(())
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.end()?;
        let stream = self.connection.open_uni().await.map_err(Error::lost)?;
        stream.set_priority(self.priority).map_err(Error::lost)?;
        self.stream = Some(stream);
        self.priority = self.priority.saturating_sub(1);
        self.left = PART_BYTES;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        self.stream.take().map_or(Ok(()), |mut stream| stream.finish().map_err(Error::lost))
    }

    /// There are no more.
    pub async fn finish(mut self) -> Result<(), Error> {
        if self.left == 0 {
            self.begin().await?;
        }
        self.end()
    }
}

/// Reads them.
pub struct PartReader {
    connection: Connection,
    stream: Option<RecvStream>,
    /// Bytes that the stream still has, if it is not the last.
    left: u64,
}

impl PartReader {
    /// Lets the peer open streams, for this many bytes before they are read.
    pub fn new(connection: &Connection, window_bytes: u32) -> Self {
        let streams = u64::from(window_bytes).div_ceil(PART_BYTES) + 1;
        connection.set_max_concurrent_uni_streams(VarInt::from_u64(2 * streams).expect("a few"));
        Self { connection: connection.clone(), stream: None, left: 0 }
    }

    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                None => {
                    self.left = PART_BYTES;
                    self.stream.insert(self.connection.accept_uni().await.map_err(Error::lost)?)
                }
            };
            match stream.read_chunk(usize::MAX, true).await.map_err(Error::lost)? {
                Some(chunk) => {
                    let bytes = chunk.bytes.len() as u64;
                    self.left =
                        self.left.checked_sub(bytes).ok_or_else(|| Error::Peer("a stream is too long".into()))?;
                    return Ok(Some(chunk.bytes));
                }
                None if self.left > 0 => return Ok(None),
                None => self.stream = None,
            }
        }
    }
}
