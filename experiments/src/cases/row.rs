// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known of the watched flow at one moment, and by which names.

use std::sync::LazyLock;

use tandem_controllers::{CONTROLLERS, Controller, Probe, Reading};
use tandem_sim::Look;

/// What is known beside the controller's probes: packets, and packets a second. `in_flight` is what the controller was told; `rounds` counts
/// from the start; `state_s` and `state_rounds` from the beginning of the state.
const OWN: [&str; 12] = [
    "time",
    "in_flight",
    "cwnd",
    "pacing_rate",
    "delivered",
    "sent",
    "retransmits",
    "timeouts",
    "min_rtt_ms",
    "rounds",
    "state_s",
    "state_rounds",
];
const DELIVERED: usize = 4;
/// `state_s` and `state_rounds` follow.
const ROUNDS: usize = 9;

/// The probe whose words are the states.
const STATE: &str = "state";
/// That which tells that a round begins.
const ROUND_START: &str = "round_start";

/// What the controllers name, and with it what claims may speak of.
struct Names {
    /// Words of any probe. A word is its place in this list.
    words: Vec<&'static str>,
    /// Those that are states.
    states: Vec<&'static str>,
    /// Of a row: [`OWN`], then all probes.
    values: Vec<&'static str>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names { words: Vec::new(), states: Vec::new(), values: OWN.to_vec() };
    let add = |list: &mut Vec<&'static str>, name| {
        if !list.contains(&name) {
            list.push(name);
        }
    };
    for probe in CONTROLLERS.iter().flat_map(Controller::all_probes) {
        add(&mut names.values, probe.name);
        probe.words().for_each(|word| add(&mut names.words, word));
        probe.words().filter(|_| probe.name == STATE).for_each(|word| add(&mut names.states, word));
    }
    names
});

/// The states that some controller has.
pub fn states() -> &'static [&'static str] {
    &NAMES.states
}

/// The number of a word, also of a state, as in rows.
pub fn word(name: &str) -> Option<usize> {
    NAMES.words.iter().position(|known| *known == name)
}

/// What is known of the path: `rate` in packets a second, `rate_mbps` of payload; `rtt`, `round`, which is that with a packet's and an ACK's
/// transmission, and `t`, the time of the trigger, in seconds; `bdp`, the packets of a round; `packet_kbit`, the payload of one.
pub const OF_PATH: [&str; 10] =
    ["rate", "rate_bps", "rate_mbps", "rtt", "round", "bdp", "t", "packet_bytes", "packet_kbit", "infinite"];

/// Rows that a claim can speak of: now, the one before, the first of the visit, the first since the time that the claim names.
const ROWS: [&str; 4] = ["", "prev.", "entry.", "since."];

/// The values of one moment, as [`Names::values`] has them; what a controller does not name is infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(Vec<f64>);

/// Where a name of a claim is: values of the path, then words, then those of each row.
pub fn place(name: &str) -> Option<usize> {
    let Names { words, values, .. } = &*NAMES;
    let of_path = OF_PATH.iter().chain(words).position(|known| *known == name);
    of_path.or_else(|| {
        let (row, name) = ROWS
            .iter()
            .enumerate()
            .skip(1)
            .find_map(|(row, prefix)| Some((row, name.strip_prefix(prefix)?)))
            .unwrap_or((0, name));
        let value = values.iter().position(|known| *known == name)?;
        Some(OF_PATH.len() + words.len() + row * values.len() + value)
    })
}

/// The value at such a place.
pub fn value(place: usize, of_path: &[f64; OF_PATH.len()], rows: [&Row; ROWS.len()]) -> f64 {
    let (paths, words, values) = (OF_PATH.len(), NAMES.words.len(), NAMES.values.len());
    match place {
        _ if place < paths => of_path[place],
        _ if place < paths + words => (place - paths) as f64,
        _ => {
            let place = place - paths - words;
            rows[place / values].0[place % values]
        }
    }
}

/// Reads rows of one controller.
pub struct Reader {
    /// Each probe, and its place in a row.
    probes: Vec<(Probe, usize)>,
    raw: Vec<u64>,
    state: usize,
    round_start: usize,
}

impl Reader {
    /// Of this controller.
    pub fn new(controller: &Controller) -> Self {
        let place = |name| NAMES.values.iter().position(|known| *known == name).expect("all probes are in the list");
        let probes: Vec<_> = controller.all_probes().map(|probe| (probe, place(probe.name))).collect();
        Self { raw: vec![0; probes.len()], probes, state: place(STATE), round_start: place(ROUND_START) }
    }

    /// What is known now; `before`: the row before it.
    pub fn row(&mut self, look: &Look, before: Option<&Row>) -> Row {
        let Look { now, sender, in_flight, .. } = look;
        let (conn, counters) = (&sender.conn, sender.counters);
        let base_rtt_us = sender.view().base_rtt_us;
        let time = *now as f64 / 1e9;
        let own = [
            time,
            *in_flight as f64,
            conn.snd_cwnd.into(),
            conn.pacing_bytes_per_s as f64 / f64::from(conn.mss),
            sender.delivered() as f64,
            counters.sent as f64,
            counters.retransmits as f64,
            counters.timeouts as f64,
            if base_rtt_us == 0 { f64::INFINITY } else { f64::from(base_rtt_us) / 1e3 },
        ];
        let mut row = Row(vec![f64::INFINITY; NAMES.values.len()]);
        row.0[..own.len()].copy_from_slice(&own);
        row.0[ROUNDS..OWN.len()].fill(0.0);
        sender.read_probes(&mut self.raw);
        for ((probe, place), raw) in self.probes.iter().zip(&self.raw) {
            row.0[*place] = match probe.read(*raw) {
                None => f64::INFINITY,
                Some(Reading::Number(value)) => value,
                Some(Reading::Word(name)) => word(name).map_or(f64::INFINITY, |place| place as f64),
            };
        }
        let Some(before) = before else { return row };
        // The flag stays until the next ACK.
        let begins_round = row.0[self.round_start] == 1.0 && row.0[DELIVERED] > before.0[DELIVERED];
        let rounds = f64::from(u8::from(begins_round));
        row.0[ROUNDS] = before.0[ROUNDS] + rounds;
        if row.0[self.state] == before.0[self.state] {
            row.0[ROUNDS + 1] = before.0[ROUNDS + 1] + time - before.time();
            row.0[ROUNDS + 2] = before.0[ROUNDS + 2] + rounds;
        }
        row
    }

    /// The number of the state, as [`word`] has it; `None` where the controller has none.
    pub fn state(&self, row: &Row) -> Option<usize> {
        let state = row.0[self.state];
        state.is_finite().then_some(state as usize)
    }
}

impl Row {
    /// Seconds since the start of the run.
    pub fn time(&self) -> f64 {
        self.0[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_names() {
        assert_eq!((OWN[DELIVERED], OWN[ROUNDS]), ("delivered", "rounds"));
        let of_path = [7.0; OF_PATH.len()];
        let rows = [1.0, 2.0, 3.0, 4.0].map(|value| Row(vec![value; NAMES.values.len()]));
        let of = |name| value(place(name).unwrap(), &of_path, [&rows[0], &rows[1], &rows[2], &rows[3]]);
        assert_eq!(
            ["rate", "max_bw_mbps", "prev.time", "entry.cwnd", "since.bw_mbps", "DRAIN"].map(of),
            [7.0, 1.0, 2.0, 3.0, 4.0, word("DRAIN").unwrap() as f64]
        );
        assert_eq!(place("since.rtt"), None);
    }
}
