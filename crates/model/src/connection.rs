// SPDX-License-Identifier: MIT OR Apache-2.0
//! The arithmetics under one name.

use tandem_controllers::{MAX_RTT_US, MAX_WINDOW};

use crate::{
    law::{Arithmetic, Law, ModelError},
    path::Path,
    rule::{Exact, Linux13, Linux2006},
    window::{Change, Driven, RoundEnd, Ruled, Windows},
};

/// A connection's windows in one of the arithmetics.
#[derive(Clone)]
pub enum Connection {
    /// [`Arithmetic::Tandem`]
    Tandem(Driven),
    /// [`Arithmetic::Linux13`]
    Linux13(Ruled<Linux13>),
    /// [`Arithmetic::Linux2006`]
    Linux2006(Ruled<Linux2006>),
    /// [`Arithmetic::Exact`]
    Exact(Ruled<Exact>),
}

impl Connection {
    /// A connection on `path` before its first packet.
    ///
    /// # Errors
    /// If the path's access rate is not above its rate, or if the arithmetic cannot have this law, or a window that
    /// overflows this path.
    pub fn new(path: &Path, law: &Law, arithmetic: Arithmetic) -> Result<Self, ModelError> {
        path.check()?;
        law.check(arithmetic)?;
        let gamma_packets = law.gamma_packets;
        Ok(match arithmetic {
            Arithmetic::Tandem => {
                check_rtt(path)?;
                check_window(path)?;
                let us_per_packet = 1e6 / path.packets_per_s();
                Self::Tandem(Driven::new(law.params()?, path.pipe_packets(), us_per_packet))
            }
            Arithmetic::Linux13 => Self::Linux13(Ruled::new(Linux13 { gamma_packets })),
            Arithmetic::Linux2006 => Self::Linux2006(Ruled::new(Linux2006 { gamma_packets })),
            Arithmetic::Exact => Self::Exact(Ruled::new(Exact(*law))),
        })
    }
}

/// Can the controller tell the RTT of the empty path from a longer one?
fn check_rtt(path: &Path) -> Result<(), ModelError> {
    let value = path.rtt.as_secs_f64() + 1.0 / path.packets_per_s();
    if value * 1e6 <= f64::from(MAX_RTT_US) {
        return Ok(());
    }
    let range = "at most 16.777216 s (2^24 us), for which the controllers' arithmetic is proven: choose a shorter RTT";
    Err(ModelError::OutOfRange { name: "RTT and a packet's transmission in seconds", value, range })
}

/// Can the controller's window overflow this path? One that cannot never loses a packet, and has no epochs.
fn check_window(path: &Path) -> Result<(), ModelError> {
    let value = path.pipe_packets() + path.buffer_packets;
    if value < f64::from(MAX_WINDOW) {
        return Ok(());
    }
    let range = "less than 16777216, the largest window that a controller has: choose a lower rate, RTT or queue";
    Err(ModelError::OutOfRange { name: "bandwidth-delay product and queue in packets", value, range })
}

/// Calls the same method of whichever it is.
macro_rules! whichever {
    ($self:ident, $windows:ident => $call:expr) => {
        match $self {
            Self::Tandem($windows) => $call,
            Self::Linux13($windows) => $call,
            Self::Linux2006($windows) => $call,
            Self::Exact($windows) => $call,
        }
    };
}

impl Windows for Connection {
    fn at(&self, loss_window: f64) -> Self {
        match self {
            Self::Tandem(w) => Self::Tandem(w.at(loss_window)),
            Self::Linux13(w) => Self::Linux13(w.at(loss_window.floor())),
            Self::Linux2006(w) => Self::Linux2006(w.at(loss_window.floor())),
            Self::Exact(w) => Self::Exact(w.at(loss_window)),
        }
    }

    fn window(&self) -> f64 {
        whichever!(self, w => w.window())
    }

    fn loss_window(&self) -> f64 {
        whichever!(self, w => w.loss_window())
    }

    fn is_too_small(&self) -> bool {
        whichever!(self, w => w.is_too_small())
    }

    fn round(&mut self, end: RoundEnd) -> Change {
        whichever!(self, w => w.round(end))
    }

    fn lose(&mut self) {
        whichever!(self, w => w.lose())
    }

    fn recover_again(&mut self) -> f64 {
        whichever!(self, w => w.recover_again())
    }
}
