// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line of a golden trace. It knows no controller: another host can replay what it returns.

/// One line of a trace; `controllers/vectors/README.md` says what each means.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Begins a new story with this controller.
    Controller(String),
    /// Sets a parameter of the controller.
    Set {
        /// Name of the parameter.
        name: String,
        /// Its value in the user's unit.
        value: f64,
    },
    /// Begins a connection. Windows, thresholds and flights are packets.
    Conn {
        /// Congestion window.
        cwnd: u32,
        /// Slow start threshold; `None`: infinite.
        ssthresh: Option<u32>,
        /// Upper bound of the window; `None`: the contract's.
        clamp: Option<u32>,
        /// Payload of a full packet, bytes.
        mss: u32,
        /// First sequence number that is not acknowledged.
        una: u32,
        /// Packets in flight before the controller is initialised.
        flight: u32,
    },
    /// ACKs that are all alike.
    Ack {
        /// Packets that each acknowledges.
        packets: u32,
        /// RTT that each measures; 0: no valid sample.
        rtt_us: u32,
        /// Number of ACKs.
        times: u32,
        /// Time before each.
        gap_us: u32,
        /// Delivery rate, losses and marks that each reports.
        rate: Rate,
    },
    /// ACKs for all packets in flight, spread evenly over one RTT.
    Round {
        /// RTT that each ACK measures, and the length of the round.
        rtt_us: u32,
        /// Packets that each ACK acknowledges; the last may acknowledge fewer.
        by: u32,
        /// Number of rounds.
        times: u32,
    },
    /// A loss, which begins recovery.
    Loss,
    /// A congestion mark, which begins CWR (RFC 3168).
    Ecn,
    /// A retransmission timeout.
    Timeout,
    /// The end of recovery.
    Recovered,
    /// The last reduction proves wrong.
    Undo,
    /// The first sign of reordering or loss.
    Disorder,
    /// Sending begins again after an idle time.
    Restart {
        /// Window that the host restarts with, packets.
        cwnd: u32,
    },
    /// The application limits the flight from now on.
    App {
        /// The most packets that it keeps in flight.
        flight: u32,
    },
    /// The window is the limit from now on.
    Bulk,
    /// Time passes without a call.
    Wait {
        /// How long.
        us: u32,
    },
    /// The host changes values by itself, without a call. `None` leaves a value as it is.
    Host {
        /// Congestion window, packets.
        cwnd: Option<u32>,
        /// Slow start threshold, packets.
        ssthresh: Option<u32>,
        /// Upper bound of the window, packets.
        clamp: Option<u32>,
    },
    /// Values that must hold now, by their keys.
    Expect(Vec<(String, Expected)>),
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It begins with no command.
    #[error("`{0}` is not a command")]
    NoCommand(String),
    /// The command needs another value.
    #[error("a value is missing")]
    NoValue,
    /// The command needs the value of a key.
    #[error("`{0}=` is missing")]
    NoKey(&'static str),
    /// The value of a key is 0.
    #[error("`{0}` must be 1 or more")]
    Zero(&'static str),
    /// The command takes no such word.
    #[error("`{0}` does not belong here")]
    NotHere(String),
    /// A count or a time.
    #[error("`{0}` is not a whole number of 32 bits")]
    NotWhole(String),
    /// A value that may be a fraction.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// An expectation.
    #[error("`{0}` is no `key=value`")]
    NotAPair(String),
    /// An `expect` without any.
    #[error("nothing is expected")]
    NothingExpected,
}

/// What an ACK says of the delivery rate, of losses and of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Packets delivered in `interval_us`.
    pub delivered: u32,
    /// Time that the delivery took.
    pub interval_us: u32,
    /// Packets found lost.
    pub lost: u32,
    /// Packets newly reported as marked.
    pub marked: u32,
}

/// The value of an expectation, and how exactly it must be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// An integer that must be equal.
    Whole(u32),
    /// A value that a controller keeps in 1/256 packets, cut off: compared to within 0.01.
    Fraction(f64),
    /// Bytes a second: compared to within 0.1 %, for a controller rounds what it computes it from.
    Rate(u32),
}

/// The words of a line, and what is wrong with it if anything is.
struct Line<'a> {
    words: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn take_plain(&mut self) -> Result<&'a str, LineError> {
        match self.words.iter().position(|w| !w.contains('=')) {
            Some(i) => Ok(self.words.remove(i)),
            None => Err(LineError::NoValue),
        }
    }

    fn take(&mut self, key: &'static str) -> Result<Option<u32>, LineError> {
        let Some(i) = self.words.iter().position(|w| w.split_once('=').is_some_and(|(k, _)| k == key)) else {
            return Ok(None);
        };
        let word = self.words.remove(i);
        number(word.split_once('=').map_or("", |(_, value)| value)).map(Some)
    }

    fn need(&mut self, key: &'static str) -> Result<u32, LineError> {
        self.take(key)?.ok_or(LineError::NoKey(key))
    }

    /// A number that is not 0, if it is there.
    fn take_some(&mut self, key: &'static str) -> Result<Option<u32>, LineError> {
        match self.take(key)? {
            Some(0) => Err(LineError::Zero(key)),
            other => Ok(other),
        }
    }

    fn need_some(&mut self, key: &'static str) -> Result<u32, LineError> {
        self.take_some(key)?.ok_or(LineError::NoKey(key))
    }

    fn end(self, command: Command) -> Result<Option<Command>, LineError> {
        match self.words.first() {
            None => Ok(Some(command)),
            Some(word) => Err(LineError::NotHere((*word).to_owned())),
        }
    }
}

fn number(text: &str) -> Result<u32, LineError> {
    text.parse().map_err(|_| LineError::NotWhole(text.to_owned()))
}

fn fraction(text: &str) -> Result<f64, LineError> {
    text.parse().map_err(|_| LineError::NotANumber(text.to_owned()))
}

/// Reads one line; `None` for an empty one or a comment.
///
/// # Errors
/// What is wrong with the line.
pub fn parse(line: &str) -> Result<Option<Command>, LineError> {
    let code = line.split_once('#').map_or(line, |(code, _)| code);
    let mut words = code.split_whitespace();
    let Some(verb) = words.next() else { return Ok(None) };
    let mut line = Line { words: words.collect() };
    let command = match verb {
        "controller" => Command::Controller(line.take_plain()?.to_owned()),
        "set" => Command::Set { name: line.take_plain()?.to_owned(), value: fraction(line.take_plain()?)? },
        "conn" => Command::Conn {
            cwnd: line.need_some("cwnd")?,
            ssthresh: line.take("ssthresh")?,
            clamp: line.take("clamp")?,
            mss: line.take_some("mss")?.unwrap_or(1000),
            una: line.take("una")?.unwrap_or(0),
            flight: line.take("flight")?.unwrap_or(0),
        },
        "ack" => Command::Ack {
            packets: number(line.take_plain()?)?,
            rtt_us: line.need("rtt")?,
            times: line.take("times")?.unwrap_or(1),
            gap_us: line.take("gap")?.unwrap_or(0),
            rate: Rate {
                delivered: line.take("delivered")?.unwrap_or(0),
                interval_us: line.take("in")?.unwrap_or(0),
                lost: line.take("lost")?.unwrap_or(0),
                marked: line.take("marked")?.unwrap_or(0),
            },
        },
        "round" => Command::Round {
            rtt_us: line.need("rtt")?,
            by: line.take_some("by")?.unwrap_or(1),
            times: line.take("times")?.unwrap_or(1),
        },
        "loss" => Command::Loss,
        "ecn" => Command::Ecn,
        "timeout" => Command::Timeout,
        "recovered" => Command::Recovered,
        "undo" => Command::Undo,
        "disorder" => Command::Disorder,
        "restart" => Command::Restart { cwnd: line.need_some("cwnd")? },
        "app" => Command::App { flight: line.need("flight")? },
        "bulk" => Command::Bulk,
        "wait" => Command::Wait { us: number(line.take_plain()?)? },
        "host" => Command::Host {
            cwnd: line.take_some("cwnd")?,
            ssthresh: line.take("ssthresh")?,
            clamp: line.take("clamp")?,
        },
        "expect" => {
            let expected = line.words.drain(..).map(expectation).collect::<Result<Vec<_>, _>>()?;
            if expected.is_empty() {
                return Err(LineError::NothingExpected);
            }
            Command::Expect(expected)
        }
        other => return Err(LineError::NoCommand(other.to_owned())),
    };
    line.end(command)
}

fn expectation(word: &str) -> Result<(String, Expected), LineError> {
    let (key, text) = word.split_once('=').ok_or_else(|| LineError::NotAPair(word.to_owned()))?;
    let value = match key {
        "gamma" | "diff" => Expected::Fraction(fraction(text)?),
        "rate" => Expected::Rate(number(text)?),
        _ => Expected::Whole(number(text)?),
    };
    Ok((key.to_owned(), value))
}
