// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue disciplines: a name, or a table with parameters. The macro `disciplines!` has the list of those with parameters; drop-tail
//! has none. A discipline's parameters are a file here; its algorithm is a file of the same name in the crate `network`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{scenario::Limit, units::UnitError};

mod codel;
mod dualpi2;
mod fq_codel;
mod pie;
mod red;

pub use codel::{Codel, CodelSpec};
pub use dualpi2::{DualPi2, DualPi2Spec};
pub use fq_codel::{FqCodel, FqCodelSpec};
pub use pie::{Pie, PieSpec};
pub use red::{Red, RedSpec};

const DROP_TAIL: &str = "droptail";

/// Makes the two types and all that depends on the list from `name => Parameters(Parameters as written)`. Parameters as
/// written have a method `resolve(self, limit, mtu)`, parameters a method `in_words(self)`.
macro_rules! disciplines {
    ($($name:literal => $kind:ident($spec:ident),)*) => {
        /// A queue discipline, complete and checked.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize)]
        pub enum Aqm {
            /// Drops packets that arrive while the buffer is full.
            #[serde(rename = "droptail")]
            DropTail,
            $(#[serde(rename = $name)] #[doc = concat!("`", $name, "` with its parameters.")] $kind($kind),)*
        }

        /// A queue discipline as written: `"red"`, or `{ kind = "red", min = 100, ... }`.
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub enum AqmSpec {
            /// Drops packets that arrive while the buffer is full.
            #[default]
            DropTail,
            $(#[doc = concat!("`", $name, "` with the parameters that were given.")] $kind($spec),)*
        }

        /// The kinds of queues, as scenarios name them.
        pub const NAMES: &[&str] = &[DROP_TAIL, $($name),*];

        impl AqmSpec {
            /// Fills in the keys that are absent, and checks the result. `mtu` in bytes.
            ///
            /// # Errors
            /// If parameters are out of range.
            pub fn resolve(self, limit: Limit, mtu: u32) -> Result<Aqm, UnitError> {
                match self {
                    AqmSpec::DropTail => Ok(Aqm::DropTail),
                    $(AqmSpec::$kind(spec) => spec.resolve(limit, mtu).map(Aqm::$kind),)*
                }
            }

            /// The same discipline, marking ECN-capable packets; `None` if it cannot.
            pub fn marking(self) -> Option<Self> {
                match self {
                    AqmSpec::DropTail => None,
                    $(AqmSpec::$kind(mut spec) => {
                        spec.ecn = true;
                        Some(AqmSpec::$kind(spec))
                    })*
                }
            }

            /// As scenarios name it.
            pub fn name(self) -> &'static str {
                match self {
                    AqmSpec::DropTail => DROP_TAIL,
                    $(AqmSpec::$kind(_) => $name,)*
                }
            }

            fn find(name: &str) -> Option<Self> {
                match name {
                    DROP_TAIL => Some(AqmSpec::DropTail),
                    $($name => Some(AqmSpec::$kind($spec::default())),)*
                    _ => None,
                }
            }
        }

        impl Aqm {
            /// The discipline in words.
            pub fn in_words(self) -> String {
                match self {
                    Aqm::DropTail => "drop-tail".into(),
                    $(Aqm::$kind(parameters) => parameters.in_words(),)*
                }
            }
        }

        #[derive(Deserialize)]
        #[serde(tag = "kind")]
        enum Table {
            #[serde(rename = "droptail")]
            DropTail(NoKeys),
            $(#[serde(rename = $name)] $kind($spec),)*
        }

        impl From<Table> for AqmSpec {
            fn from(table: Table) -> Self {
                match table {
                    Table::DropTail(NoKeys {}) => AqmSpec::DropTail,
                    $(Table::$kind(spec) => AqmSpec::$kind(spec),)*
                }
            }
        }
    };
}

disciplines! {
    "red" => Red(RedSpec),
    "codel" => Codel(CodelSpec),
    "fq_codel" => FqCodel(FqCodelSpec),
    "pie" => Pie(PieSpec),
    "dualpi2" => DualPi2(DualPi2Spec),
}

/// `a, b or c`.
fn any_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// All names, as a help text has them: `droptail, red, ... or dualpi2`.
pub fn all_names() -> String {
    any_of(NAMES)
}

/// The names of those that can mark packets.
pub fn marking_names() -> String {
    let can_mark: Vec<&str> = NAMES.iter().copied().filter(|&name| name != DROP_TAIL).collect();
    any_of(&can_mark)
}

impl Aqm {
    /// Does it ever mark a packet with ECT(0), or with ECT(1) if `is_l4s`?
    pub fn marks(self, is_l4s: bool) -> bool {
        match self {
            Aqm::DropTail => false,
            Aqm::Red(red) => red.ecn,
            Aqm::Codel(codel) => codel.ecn,
            Aqm::FqCodel(fq_codel) => fq_codel.codel.ecn,
            Aqm::Pie(pie) => pie.ecn,
            // `ecn` is about its Classic queue.
            Aqm::DualPi2(dualpi2) => dualpi2.ecn || is_l4s,
        }
    }
}

/// A variant without a table would take any key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoKeys {}

impl FromStr for AqmSpec {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        Self::find(text)
            .ok_or_else(|| UnitError::new(format!("unknown queue discipline `{text}`: write {}", all_names())))
    }
}

impl<'de> Deserialize<'de> for AqmSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = AqmSpec;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                let quoted: Vec<String> = NAMES.iter().map(|name| format!("\"{name}\"")).collect();
                write!(f, "{} or a table with `kind`", quoted.join(", "))
            }
            fn visit_str<E: de::Error>(self, s: &str) -> Result<AqmSpec, E> {
                s.parse().map_err(E::custom)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<AqmSpec, A::Error> {
                Table::deserialize(de::value::MapAccessDeserializer::new(map)).map(AqmSpec::from)
            }
        }
        d.deserialize_any(Visitor)
    }
}
