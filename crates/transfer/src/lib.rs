// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files over QUIC (quinn) with any of Tandem's congestion controllers.
//!
//! A [`Receiver`] has a [`Ticket`]: its address, the hash of its certificate, and a secret. [`send`] needs the ticket. Both sides prove that
//! they know the secret, bound to the TLS session, before a name or a byte of a file is told. The receiver takes one transfer; one that
//! breaks off may be begun again with the same ticket, and goes on where it was.

mod error;
mod link;
mod names;
mod parts;
mod plan;
mod prefix;
mod progress;
mod receive;
mod send;
mod store;
mod strangers;
mod take;
#[cfg(test)]
mod tests;
mod ticket;
mod wire;

pub use error::{Error, Refusal};
pub use link::Transport;
pub use progress::Progress;
pub use receive::{Limits, Note, ReceiveOptions, Receiver};
pub use send::{SendNote, SendOptions, Source, send};
pub use ticket::{BadTicket, Ticket};

/// What a transfer has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files that are complete now.
    pub files: u64,
    /// Those of them that were there already, and the same.
    pub unchanged: u64,
    /// Bytes that crossed the network for them.
    pub bytes: u64,
}
