// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files over QUIC (quinn) with any of Tandem's congestion controllers.
//!
//! A [`Receiver`] has a [`Ticket`]: its address, the hash of its certificate, and a secret. [`send`] needs the ticket. Both sides prove that
//! they know the secret, bound to the TLS session, before a name or a byte of a file is revealed. The receiver takes one transfer; one that
//! breaks off can be restarted with the same ticket, and continues.
//!
//! ```
//! use std::sync::Arc;
//! use tandem_transfer::{Limits, Progress, ReceiveOptions, Receiver, SendOptions, Source, Transport, send};
//!
//! # #[tokio::main(flavor = "multi_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (from, to) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! let file = from.path().join("hello.txt");
//! std::fs::write(&file, "Hello")?;
//!
//! let receiver = Receiver::bind(&ReceiveOptions {
//!     folder: to.path().to_owned(),
//!     listen: "127.0.0.1:0".parse()?,
//!     address: None,
//!     force: false,
//!     hidden: false,
//!     transport: Transport::default(),
//!     limits: Limits::default(),
//! })?;
//! let ticket = receiver.ticket().clone();
//! let receiving = tokio::spawn(receiver.run(Arc::new(Progress::default()), |_| {}));
//! send(&Source::Files(vec![file]), &ticket, &SendOptions::default(), Arc::new(Progress::default()), |_| {}).await?;
//! receiving.await??;
//! assert_eq!(std::fs::read_to_string(to.path().join("hello.txt"))?, "Hello");
//! # Ok(()) }
//! ```
//!
//! Around it: [`tandem_quic`] has the controllers in QUIC stacks, [`tandem_controllers`] their list.

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

/// The result of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files that are complete now.
    pub files: u64,
    /// Those of them that were there already, and the same.
    pub unchanged: u64,
    /// Bytes that crossed the network for them.
    pub bytes: u64,
}
