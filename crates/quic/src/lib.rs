// SPDX-License-Identifier: MIT OR Apache-2.0
//! The congestion controllers of the Compound TCP family in the QUIC stacks quinn and noq. It needs no root and runs on any system.
//!
//! ```
//! # #[cfg(feature = "quinn")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use quinn_proto::TransportConfig; // `quinn::TransportConfig` is the same
//! let mut transport = TransportConfig::default();
//! transport.congestion_controller_factory(tandem_quic::controller("compound_tube")?);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "quinn"))]
//! # fn main() {}
//! ```
//!
//! The features `quinn` (on by default) and `noq` choose the stacks. [`controller`] serves both. `paced_controller` is for noq alone,
//! which takes a pacing rate from its controller, so that `bbr` runs there, too.
//!
//! [`Host`] knows no stack: it turns QUIC's events into the calls that the controllers' contract asks for. Another stack's adapter needs
//! little more than it. `docs/reference/quic-mapping.md` gives the mapping, line by line against RFC 9002.
//!
//! Around it: [`tandem_controllers`] has the controllers, [tandem-transfer](../tandem_transfer/index.html) sends files with them,
//! [tandem-quic-engine](../tandem_quic_engine/index.html) runs scenarios.

mod host;
#[cfg(feature = "noq")]
mod noq;
#[cfg(feature = "quinn")]
mod quinn;

pub use host::{Acked, Host, Losses, Options};
#[cfg(feature = "noq")]
pub use noq::OverNoq;
#[cfg(feature = "quinn")]
pub use quinn::OverQuinn;

use std::sync::Arc;

use tandem_controllers::{Params, UnknownController, find};

/// Why a controller cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// No controller has the name.
    #[error(transparent)]
    Unknown(#[from] UnknownController),
    /// The controller sets a pacing rate, and quinn takes none.
    #[error("`{0}` sets a pacing rate, which quinn does not take: use noq with `tandem_quic::paced_controller`")]
    NeedsPacing(&'static str),
    /// The controller needs the number of marked packets, and neither quinn nor noq tells it.
    #[error(
        "`{0}` counts ECN marks, and QUIC stacks report that there were marks, but not how many: use another controller"
    )]
    CountsMarks(&'static str),
}

/// Makes the controllers of connections, in quinn and in noq.
#[derive(Clone, Debug)]
pub struct Factory {
    params: Arc<Params>,
    options: Options,
}

/// Makes the controllers of connections in noq, which takes a pacing rate from them.
#[cfg(feature = "noq")]
#[derive(Clone, Debug)]
pub struct PacedFactory(Factory);

impl Factory {
    /// A controller with these parameters.
    ///
    /// # Errors
    /// [`Error::NeedsPacing`] if it sets a pacing rate (`PacedFactory` takes it, in noq).
    pub fn new(params: Params, options: Options) -> Result<Self, Error> {
        refuse_counting(&params)?;
        if params.controller().owns_window() {
            return Err(Error::NeedsPacing(params.controller().name));
        }
        Ok(Self { params: Arc::new(params), options })
    }

    #[cfg(any(feature = "quinn", feature = "noq"))]
    fn host(&self, packet_bytes: u16) -> Host {
        Host::new(&self.params, self.options, packet_bytes)
    }
}

#[cfg(feature = "noq")]
impl PacedFactory {
    /// A controller with these parameters. It may set a pacing rate.
    ///
    /// # Errors
    /// [`Error::CountsMarks`] if it needs the number of marked packets.
    pub fn new(params: Params, options: Options) -> Result<Self, Error> {
        refuse_counting(&params)?;
        Ok(Self(Factory { params: Arc::new(params), options }))
    }
}

/// Of a mark the stacks tell that there was one, at most once a round.
fn refuse_counting(params: &Params) -> Result<(), Error> {
    let controller = params.controller();
    if controller.counts_marks() { Err(Error::CountsMarks(controller.name)) } else { Ok(()) }
}

/// A time as [`Host`] has it: from 1 s on, so that what was sent shortly before the origin has a time, too.
#[cfg(any(feature = "quinn", feature = "noq"))]
fn since(origin: std::time::Instant, time: std::time::Instant) -> u64 {
    const START_NS: u64 = 1_000_000_000;
    match time.checked_duration_since(origin) {
        Some(later) => START_NS + later.as_nanos() as u64,
        None => START_NS.saturating_sub(origin.duration_since(time).as_nanos() as u64),
    }
}

/// A controller by its name, with default parameters, for quinn's and noq's `TransportConfig::congestion_controller_factory`.
///
/// # Errors
/// [`Error`] if no controller has the name, or if it sets a pacing rate or counts marks.
pub fn controller(name: &str) -> Result<Arc<Factory>, Error> {
    Factory::new(Params::new(find(name)?), Options::default()).map(Arc::new)
}

/// A controller by its name, with default parameters, for noq's `TransportConfig::congestion_controller_factory`. It may set a pacing rate.
///
/// # Errors
/// [`Error`] if no controller has the name, or if it counts marks.
#[cfg(feature = "noq")]
pub fn paced_controller(name: &str) -> Result<Arc<PacedFactory>, Error> {
    PacedFactory::new(Params::new(find(name)?), Options::default()).map(Arc::new)
}
