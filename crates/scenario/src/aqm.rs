// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue management and loss as written: a name, or a table with parameters.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, de};

use crate::{
    scenario::{Aqm, Limit, Loss},
    units::{LossRate, Span, UnitError},
};

/// `"droptail"`, `"red"`, `"codel"`, or `{ kind = "red", min = 100, ... }`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum AqmSpec {
    #[default]
    DropTail,
    Red(RedSpec),
    Codel(CodelSpec),
}

/// What is not given follows the queue's limit: min = limit / 6, max = 3 min (Floyd's 1997 note on parameters: max at
/// least 3 min), max_p = 0.1, weight = 0.002 (Floyd and Jacobson 1993).
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// Packets.
    min: Option<f64>,
    /// Packets.
    max: Option<f64>,
    max_p: Option<f64>,
    weight: Option<f64>,
}

/// RFC 8289: target 5 ms, interval 100 ms.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelSpec {
    target: Option<Span>,
    interval: Option<Span>,
}

impl AqmSpec {
    pub fn resolve(self, limit: Limit, mtu: u32) -> Result<Aqm, UnitError> {
        let wrong = |text: String| Err(UnitError::new(text));
        match self {
            AqmSpec::DropTail => Ok(Aqm::DropTail),
            AqmSpec::Red(red) => {
                let limit_packets = match limit {
                    Limit::Packets(n) => f64::from(n),
                    Limit::Bytes(n) => n as f64 / f64::from(mtu),
                };
                let min_packets = red.min.unwrap_or(limit_packets / 6.0);
                let max_packets = red.max.unwrap_or(3.0 * min_packets);
                let max_p = red.max_p.unwrap_or(0.1);
                let weight = red.weight.unwrap_or(0.002);
                if !(min_packets > 0.0 && max_packets > min_packets) {
                    return wrong(format!("red needs 0 < min < max, not min = {min_packets}, max = {max_packets}"));
                }
                if !(max_p > 0.0 && max_p <= 1.0 && weight > 0.0 && weight <= 1.0) {
                    return wrong(format!("red needs max_p and weight above 0, up to 1, not {max_p} and {weight}"));
                }
                Ok(Aqm::Red { min_packets, max_packets, max_p, weight })
            }
            AqmSpec::Codel(codel) => {
                let target = codel.target.unwrap_or(Span::from_ms(5));
                let interval = codel.interval.unwrap_or(Span::from_ms(100));
                if target.ns == 0 || interval <= target {
                    return wrong(format!("codel needs 0 < target < interval, not {target} and {interval}"));
                }
                Ok(Aqm::Codel { target, interval })
            }
        }
    }
}

impl FromStr for AqmSpec {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text {
            "droptail" => Ok(AqmSpec::DropTail),
            "red" => Ok(AqmSpec::Red(RedSpec::default())),
            "codel" => Ok(AqmSpec::Codel(CodelSpec::default())),
            _ => Err(UnitError::new(format!("unknown queue discipline `{text}`: write droptail, red or codel"))),
        }
    }
}

impl<'de> Deserialize<'de> for AqmSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(tag = "kind", rename_all = "lowercase")]
        enum Table {
            DropTail(NoKeys),
            Red(RedSpec),
            Codel(CodelSpec),
        }
        /// A variant without a table would take any key.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct NoKeys {}
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = AqmSpec;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("\"droptail\", \"red\", \"codel\" or a table with `kind`")
            }
            fn visit_str<E: de::Error>(self, s: &str) -> Result<AqmSpec, E> {
                s.parse().map_err(E::custom)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<AqmSpec, A::Error> {
                Ok(match Table::deserialize(de::value::MapAccessDeserializer::new(map))? {
                    Table::DropTail(NoKeys {}) => AqmSpec::DropTail,
                    Table::Red(red) => AqmSpec::Red(red),
                    Table::Codel(codel) => AqmSpec::Codel(codel),
                })
            }
        }
        d.deserialize_any(Visitor)
    }
}

impl From<LossRate> for Loss {
    fn from(rate: LossRate) -> Loss {
        if rate.0 > 0.0 { Loss::Bernoulli(rate) } else { Loss::None }
    }
}

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            good_to_bad: f64,
            bad_to_good: f64,
            #[serde(default)]
            loss_good: f64,
            #[serde(default = "one")]
            loss_bad: f64,
        }
        fn one() -> f64 {
            1.0
        }
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Loss;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(
                    "a loss rate such as 1e-6 or \"0.1%\", or { good_to_bad, bad_to_good, loss_good, loss_bad }",
                )
            }
            fn visit_str<E: de::Error>(self, s: &str) -> Result<Loss, E> {
                s.parse::<LossRate>().map(Loss::from).map_err(E::custom)
            }
            fn visit_f64<E: de::Error>(self, n: f64) -> Result<Loss, E> {
                self.visit_str(&n.to_string())
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Loss, E> {
                self.visit_str(&n.to_string())
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Loss, A::Error> {
                let t = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
                let Table { good_to_bad, bad_to_good, loss_good, loss_bad } = t;
                let shares = [good_to_bad, bad_to_good, loss_good, loss_bad];
                if shares.iter().any(|p| !(0.0..=1.0).contains(p)) {
                    return Err(de::Error::custom("the four probabilities of bursty loss must be from 0 to 1"));
                }
                // Everything lost for ever is no network.
                if bad_to_good == 0.0 || loss_good >= 1.0 {
                    return Err(de::Error::custom("bursty loss needs bad_to_good above 0 and loss_good below 1"));
                }
                Ok(Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad })
            }
        }
        d.deserialize_any(Visitor)
    }
}
