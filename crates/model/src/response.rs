// SPDX-License-Identifier: MIT OR Apache-2.0
//! Response functions: the mean window of a flow whose only trouble is random loss, without queueing.

use tandem_controllers::{Params, ResponseFunction};

/// How a controller answers to loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Response {
    /// Growth of a packet a round, as in RFC 5681.
    Reno {
        /// Share of the window that a loss takes away.
        beta: f64,
    },
    /// Compound's power law, with Reno's growth in small windows (S0 (3) and (4)).
    Compound {
        /// Growth is `alpha w^k` packets a round.
        alpha: f64,
        /// Exponent of the growth.
        k: f64,
        /// Share of the window that a loss takes away.
        beta: f64,
        /// Window from which the power law holds, packets; Reno below it.
        low_window: f64,
    },
}

impl Response {
    /// That of a controller with its parameters; `None` if it has none that is known. Compound's gamma makes no difference, since
    /// there is no queue.
    pub fn of(params: &Params) -> Option<Self> {
        let get = |name| params.get(name);
        match params.controller().response_function()? {
            ResponseFunction::Reno => Some(Self::Reno { beta: get("beta")? }),
            ResponseFunction::Compound => Some(Self::Compound {
                alpha: get("alpha")?,
                k: get("k")?,
                beta: get("beta")?,
                low_window: get("low_window")?,
            }),
            ResponseFunction::Cubic => None,
        }
    }

    /// Mean window over time, packets, at a loss of `loss` a packet, one each `1 / loss` packets; `0 < loss < 1`.
    pub fn window_packets(&self, loss: f64) -> f64 {
        match *self {
            Self::Reno { beta } => Sawtooth { alpha: 1.0, k: 0.0, beta }.mean_window(loss),
            Self::Compound { alpha, k, beta, low_window } => {
                let reno = Sawtooth { alpha: 1.0, k: 0.0, beta }.mean_window(loss);
                let compound = Sawtooth { alpha, k, beta }.mean_window(loss);
                if compound > low_window { compound.max(reno) } else { reno }
            }
        }
    }

    /// Goodput on a path of this RTT, bits a second, for packets of this much payload.
    pub fn goodput_bps(&self, loss: f64, rtt_s: f64, payload_bytes: u32) -> f64 {
        self.window_packets(loss) * f64::from(payload_bytes) * 8.0 / rtt_s
    }
}

/// Growth by `alpha w^k` a round from `(1 - beta) W` to W, S0 (3) and (4), again and again.
struct Sawtooth {
    alpha: f64,
    k: f64,
    beta: f64,
}

impl Sawtooth {
    /// A tooth sends `W^(2-k) (1 - (1-beta)^(2-k)) / (alpha (2-k))` packets, which is `1 / loss` (S0 (6)); its mean is that over
    /// the tooth's rounds.
    fn mean_window(&self, loss: f64) -> f64 {
        let Self { alpha, k, beta } = *self;
        let share = |n: f64| (1.0 - (1.0 - beta).powf(n)) / n;
        let peak = (alpha / (loss * share(2.0 - k))).powf(1.0 / (2.0 - k));
        peak * share(2.0 - k) / share(1.0 - k)
    }
}
