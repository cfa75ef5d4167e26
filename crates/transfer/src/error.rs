// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors.

use std::{fmt::Display, io, path::PathBuf};

use crate::names::shown;

/// Why a transfer did not take place or broke off.
///
/// The messages include the system's words. `source` therefore returns none, or they would be printed twice.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder here.
    #[error("{}: {cause}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The socket.
    #[error("{address}: {cause}{}", if matches!(.cause.kind(), io::ErrorKind::AddrInUse) { "; choose another port" } else { "" })]
    Socket {
        /// Where it was to listen.
        address: std::net::SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
    /// The receiver cannot be reached, or no longer.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// The receiver is not the one that made the ticket, or does not accept it.
    #[error("the ticket is not accepted: {0}")]
    Ticket(String),
    /// The receiver will not take the files.
    #[error("the receiver refuses: {0}")]
    Refused(String),
    /// The other side broke the protocol, or says why it cannot go on.
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
        |cause| Self::File { path, cause }
    }

    /// The connection is lost. The side that closed it chose some of the words.
    pub(crate) fn lost(cause: impl Display) -> Self {
        Self::Connection(shown(&cause.to_string()))
    }

    /// The message for the other side, which has its own words for errors from here.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Connection(why) | Self::Ticket(why) | Self::Refused(why) | Self::Peer(why) => why.clone(),
            other => other.to_string(),
        }
    }
}

/// Why the receiver does not take what the sender offers. The sender is told so in these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A name that leads out of the folder, or that no file may have.
    #[error("`{}` is not a valid file name here", shown(.0))]
    Name(String),
    /// A name, or a part of it, that is too long.
    #[error("`{}` is too long a name: rename it", shown(.0))]
    TooLong(String),
    /// A name that begins with a dot, or leads through a folder whose name does.
    #[error("`{}` is hidden: leave it out, or receive with --hidden", shown(.0))]
    Hidden(String),
    /// Two entries have one name.
    #[error("`{}` is offered twice", shown(.0))]
    Twice(String),
    /// Other entries are to be inside a file.
    #[error("`{}` is offered as a file and as a folder", shown(.0))]
    FileAndFolder(String),
    /// There is a file of this name already, and `--force` is not given.
    #[error("`{}` is there already: move it away, or receive with --force", shown(.0))]
    Exists(String),
    /// The name belongs to something that is not a file: a link, a device, a folder.
    #[error("`{}` is there already, and it is not a regular file", shown(.0))]
    NoFile(String),
    /// A folder on the way is a link or a file.
    #[error("`{}` is no folder", shown(.0))]
    NoFolder(String),
    /// The system cannot look at it.
    #[error("`{}` is not a name that can be looked up here: {why}", shown(.name))]
    Unreadable {
        /// Which.
        name: String,
        /// What the system says.
        why: String,
    },
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
