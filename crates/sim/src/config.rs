// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a connection is made from, as a scenario has it.

use tandem_scenario::{CongestionControl, Ecn, Recovery, TcpSource};
use tandem_tcp::Config;

/// A connection of `source` with segments of `mss` bytes. Its controller is one of ours.
pub fn of(source: &TcpSource, mss: u32) -> Config {
    let CongestionControl::Tandem(controller) = &source.controller else {
        unreachable!("`run` refuses `{}`, which only the kernel has", source.controller)
    };
    Config {
        controller: controller.clone(),
        mss,
        initial_window: source.initial_window,
        receive_window: source.receive_window,
        delayed_acks: source.delayed_acks,
        pacing: source.pacing,
        recovery: match source.recovery {
            Recovery::Prr => tandem_tcp::Recovery::Prr,
            Recovery::RateHalving => tandem_tcp::Recovery::RateHalving,
        },
        ecn: match source.ecn {
            Ecn::Off => tandem_tcp::Ecn::Off,
            Ecn::Rfc3168 => tandem_tcp::Ecn::Rfc3168,
            Ecn::Rfc8511 => tandem_tcp::Ecn::Rfc8511,
            Ecn::Accurate => tandem_tcp::Ecn::Accurate,
        },
    }
}
