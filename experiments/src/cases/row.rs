// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known of the watched flow at one moment, and by which names.

use tandem_controllers::bbr_state::{NAMES, STATES};
use tandem_sim::Look;

/// What is known beside the controller's own values: packets, and packets a second. `in_flight` is what the controller was told; `rounds` counts
/// from the start; `state_s` and `state_rounds` from the beginning of the state.
const OWN: [&str; 11] = [
    "time",
    "in_flight",
    "cwnd",
    "pacing_rate",
    "delivered",
    "sent",
    "retransmits",
    "timeouts",
    "rounds",
    "state_s",
    "state_rounds",
];

const VALUES: usize = OWN.len() + NAMES.len();
const DELIVERED: usize = 4;
/// `state_s` and `state_rounds` follow.
const ROUNDS: usize = 8;
const ROUND_START: usize = OWN.len() + 15;

/// What is known of the path: `rate` in packets a second; `rtt`, `round`, which is that with a packet's and an ACK's transmission, and `t`, the
/// time of the trigger, in seconds; `bdp`, the packets of a round.
pub const OF_PATH: [&str; 8] = ["rate", "rate_bps", "rtt", "round", "bdp", "t", "packet_bytes", "infinite"];

/// Rows that a claim can speak of: now, the one before, the first of the visit, the first since the time that the claim names.
const ROWS: [&str; 4] = ["", "prev.", "entry.", "since."];

/// The values of one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row([f64; VALUES]);

/// Where a name of a claim is: values of the path, then states, then those of each row.
pub fn place(name: &str) -> Option<usize> {
    let of_path = OF_PATH.iter().chain(&STATES).position(|known| *known == name);
    of_path.or_else(|| {
        let (row, name) = ROWS
            .iter()
            .enumerate()
            .skip(1)
            .find_map(|(row, prefix)| Some((row, name.strip_prefix(prefix)?)))
            .unwrap_or((0, name));
        let value = OWN.iter().chain(&NAMES).position(|known| *known == name)?;
        Some(OF_PATH.len() + STATES.len() + row * VALUES + value)
    })
}

/// The value at such a place.
pub fn value(place: usize, of_path: &[f64; OF_PATH.len()], rows: [&Row; ROWS.len()]) -> f64 {
    let (paths, states) = (OF_PATH.len(), STATES.len());
    match place {
        _ if place < paths => of_path[place],
        _ if place < paths + states => (place - paths) as f64,
        _ => {
            let place = place - paths - states;
            rows[place / VALUES].0[place % VALUES]
        }
    }
}

impl Row {
    /// `before`: the row before it. `None` if the controller is not of the BBR family.
    pub fn new(look: &Look, before: Option<&Row>) -> Option<Self> {
        let Look { now, sender, in_flight } = look;
        let state = sender.bbr_state()?;
        let (conn, counters) = (&sender.conn, sender.counters);
        let time = *now as f64 / 1e9;
        let mut row = Row([0.0; VALUES]);
        let own = [
            time,
            *in_flight as f64,
            conn.snd_cwnd.into(),
            conn.pacing_bytes_per_s as f64 / f64::from(conn.mss),
            sender.delivered() as f64,
            counters.sent as f64,
            counters.retransmits as f64,
            counters.timeouts as f64,
        ];
        row.0[..own.len()].copy_from_slice(&own);
        row.0[OWN.len()..].copy_from_slice(&state);
        let Some(before) = before else { return Some(row) };
        // The flag stays until the next ACK.
        let begins_round = row.0[ROUND_START] != 0.0 && row.0[DELIVERED] > before.0[DELIVERED];
        let in_same_state = row.state() == before.state();
        let rounds = f64::from(u8::from(begins_round));
        row.0[ROUNDS] = before.0[ROUNDS] + rounds;
        if in_same_state {
            row.0[ROUNDS + 1] = before.0[ROUNDS + 1] + time - before.time();
            row.0[ROUNDS + 2] = before.0[ROUNDS + 2] + rounds;
        }
        Some(row)
    }

    /// Seconds since the start of the run.
    pub fn time(&self) -> f64 {
        self.0[0]
    }

    /// A place in [`STATES`].
    pub fn state(&self) -> usize {
        self.0[OWN.len()] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_names() {
        assert_eq!(
            (OWN[DELIVERED], OWN[ROUNDS], NAMES[ROUND_START - OWN.len()]),
            ("delivered", "rounds", "round_start")
        );
        let of_path = [7.0; OF_PATH.len()];
        let rows = [1.0, 2.0, 3.0, 4.0].map(|value| Row([value; VALUES]));
        let of = |name| value(place(name).unwrap(), &of_path, [&rows[0], &rows[1], &rows[2], &rows[3]]);
        assert_eq!(
            ["rate", "DRAIN", "max_bw", "prev.time", "entry.cwnd", "since.bw"].map(of),
            [7.0, 1.0, 1.0, 2.0, 3.0, 4.0]
        );
        assert_eq!(place("since.rtt"), None);
    }
}
