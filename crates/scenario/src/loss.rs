// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random loss: a rate, or a table of a channel with bursts.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::units::{LossRate, UnitError};

/// Random loss on a link, before its queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// No packet is lost at random.
    None,
    /// Every packet is lost with the same probability, independently of others.
    Bernoulli(LossRate),
    /// Losses in bursts: a channel with two states, each with a loss probability of its own (Gilbert 1960, Elliott
    /// 1963).
    GilbertElliott {
        /// Probability, per packet, that a good channel turns bad.
        good_to_bad: f64,
        /// Probability, per packet, that a bad channel turns good.
        bad_to_good: f64,
        /// Probability that a packet is lost while the channel is good.
        loss_good: f64,
        /// Probability that a packet is lost while the channel is bad.
        loss_bad: f64,
    },
}

impl From<LossRate> for Loss {
    fn from(rate: LossRate) -> Loss {
        if rate.0 > 0.0 { Loss::Bernoulli(rate) } else { Loss::None }
    }
}

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Visitor { rate: str::parse })
    }
}

/// The loss of a change, which may be that of every packet: it lasts until the next change.
pub(crate) fn of_change<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Loss>, D::Error> {
    d.deserialize_any(Visitor { rate: LossRate::up_to_all }).map(Some)
}

struct Visitor {
    /// Reads a rate.
    rate: fn(&str) -> Result<LossRate, UnitError>,
}

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

impl<'de> de::Visitor<'de> for Visitor {
    type Value = Loss;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a loss rate such as 1e-6 or \"0.1%\", or { good_to_bad, bad_to_good, loss_good, loss_bad }")
    }

    fn visit_str<E: de::Error>(self, s: &str) -> Result<Loss, E> {
        (self.rate)(s).map(Loss::from).map_err(E::custom)
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
