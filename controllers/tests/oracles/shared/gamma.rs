// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where gamma, the backlog that counts as early congestion, comes from.

use tandem_controllers::Params;

pub enum Gamma {
    /// S1 II.
    Fixed(f64),
    /// S0 III.C.
    FromRtts { low: f64, low_window: f64, max_rtt_us: f64, forgotten_us: f64, now: f64 },
    /// S1 III.
    FromRegularFlow { low: f64, high: f64, lambda: f64, share: f64, now: f64, diff_reno: Option<f64> },
}

impl Gamma {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        match params.controller().name {
            "compound" | "compound_plus" => Self::Fixed(p("gamma")),
            "compound_auto" => Self::FromRtts {
                low: p("gamma_low"),
                low_window: p("low_window"),
                max_rtt_us: 0.0,
                forgotten_us: 0.0,
                now: p("gamma_low"),
            },
            "compound_tube" => Self::FromRegularFlow {
                low: p("gamma_low"),
                high: p("gamma_high"),
                lambda: p("lambda"),
                share: p("share"),
                now: p("gamma"),
                diff_reno: None,
            },
            name => panic!("{name}: whence its gamma?"),
        }
    }

    pub fn now(&self) -> f64 {
        match self {
            Self::Fixed(now) | Self::FromRtts { now, .. } | Self::FromRegularFlow { now, .. } => *now,
        }
    }

    /// How far rounding may take the integer controller's gamma from this one. A regular flow's backlog is measured with
    /// the loss window, which is up to two packets off, and `share` of it taken.
    pub fn margin(&self) -> f64 {
        match self {
            Self::FromRegularFlow { share, .. } => 2.0 * share,
            _ => 0.01,
        }
    }

    pub fn sample(&mut self, rtt_us: f64) {
        if let Self::FromRtts { max_rtt_us, .. } = self {
            *max_rtt_us = max_rtt_us.max(rtt_us);
        }
    }

    /// A round ended in which a regular flow had `queued` packets in the queue.
    pub fn round(&mut self, base_rtt_us: f64, queued: f64) {
        match self {
            Self::Fixed(_) => {}
            Self::FromRtts { low, low_window, max_rtt_us, now, .. } => {
                let rho = (*max_rtt_us - base_rtt_us).max(0.0) / base_rtt_us;
                *now = (*low_window * rho / (1.0 + rho)).max(*low);
            }
            Self::FromRegularFlow { diff_reno, .. } => *diff_reno = Some(queued),
        }
    }

    /// A timeout after which the smallest RTT is measured afresh.
    pub fn forget(&mut self) {
        if let Self::FromRtts { max_rtt_us, forgotten_us, .. } = self {
            *forgotten_us = std::mem::take(max_rtt_us);
        }
    }

    pub fn undo(&mut self) {
        if let Self::FromRtts { max_rtt_us, forgotten_us, .. } = self {
            *max_rtt_us = max_rtt_us.max(*forgotten_us);
        }
    }

    pub fn loss(&mut self) {
        if let Self::FromRtts { forgotten_us, .. } = self {
            *forgotten_us = 0.0;
        }
        if let Self::FromRegularFlow { low, high, lambda, share, now, diff_reno } = self
            && let Some(queued) = diff_reno.take()
        {
            let average = (1.0 - *lambda) * *now + *lambda * *share * queued;
            *now = average.max(*low).min(*high);
        }
    }
}
