// SPDX-License-Identifier: MIT OR Apache-2.0
//! What may go wrong.

use std::{io, path::PathBuf};

/// Why a transfer did not take place or broke off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder here.
    #[error("{}: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The socket.
    #[error("{address}: {source}{}", if matches!(.source.kind(), io::ErrorKind::AddrInUse) { "; choose another port" } else { "" })]
    Socket {
        /// Where it was to listen.
        address: std::net::SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// No way to the receiver, or none any more.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// The receiver is not the one that made the ticket, or does not accept it.
    #[error("the ticket is not accepted: {0}")]
    Ticket(String),
    /// The receiver will not take the files.
    #[error("the receiver refuses: {0}")]
    Refused(String),
    /// The other side broke the protocol.
    #[error("the other side broke off: {0}")]
    Peer(String),
    /// The sender has nothing that can be sent.
    #[error("{0}")]
    Nothing(String),
    /// A controller that quinn cannot host.
    #[error(transparent)]
    Controller(#[from] tandem_quic::Error),
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}

/// Why the receiver does not take what the sender offers. The sender is told so in these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A name that leads out of the folder, or that no file may have.
    #[error("`{0}` is no name for a file here")]
    Name(String),
    /// Two entries have one name.
    #[error("`{0}` is offered twice")]
    Twice(String),
    /// There is a file of this name already, and `--force` is not given.
    #[error("`{0}` is there already: move it away, or receive with --force")]
    Exists(String),
    /// There is something of this name that is no file: a link, a device, a folder.
    #[error("`{0}` is there already, and it is no plain file")]
    NoFile(String),
    /// A folder on the way is a link or a file.
    #[error("`{0}` is no folder")]
    NoFolder(String),
    /// Not enough room.
    #[error("there is no room: {needed} bytes are needed, {free} are free")]
    NoRoom {
        /// Bytes to be written.
        needed: u128,
        /// Bytes that the file system has.
        free: u128,
    },
    /// More than the receiver's limits allow.
    #[error("the offer is too large: {0}")]
    TooLarge(String),
}
