// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short flows as written in a file, `short = { ... }` of `[[flows]]`, and the way to complete ones.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, de};

use super::{Arrivals, ShortFlows, SizeList, Sizes, sizes::MAX_BYTES};
use crate::{
    check::SpecError,
    named_file::named_file,
    units::{Bytes, Span, UnitError},
};

/// Short flows that have not been checked. They have one of `load`, `per_second` and `think`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortSpec {
    /// The payload that comes, in proportion to what the slowest link on the way can carry: a Poisson process.
    pub load: Option<Load>,
    /// Transfers a second: a Poisson process.
    pub per_second: Option<f64>,
    /// How long each flow thinks on average before a transfer.
    pub think: Option<Span>,
    /// How large the transfers are.
    pub size: SizeSpec,
    /// Sizes at which results are told apart; 10 kB, 100 kB and 1 MB if not given.
    pub classes: Option<Vec<Bytes>>,
}

/// Sizes as written: `"30kB"`, or a table with `kind`.
#[derive(Debug, Clone)]
pub enum SizeSpec {
    /// All the same.
    Fixed(Bytes),
    /// Log-normal.
    LogNormal(LogNormalSpec),
    /// Pareto.
    Pareto(ParetoSpec),
    /// Those of a file.
    File(FileSpec),
}

/// A log-normal distribution.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogNormalSpec {
    median: Bytes,
    sigma: f64,
}

/// A Pareto distribution, cut off if wanted.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParetoSpec {
    smallest: Bytes,
    shape: f64,
    largest: Option<Bytes>,
}

/// A file with a size on each line.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    path: PathBuf,
}

/// Offered load: a share of a link, above 0; it may exceed 1. `0.3` or `"30%"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load(pub f64);

/// The sizes at which results are told apart if the scenario does not say, bytes.
const USUAL_BORDERS: [u64; 3] = [10_000, 100_000, 1_000_000];
/// The most classes of a table that a reader still reads.
const MAX_BORDERS: usize = 20;
/// The most transfers of a group on average, so that a slip of the finger does not take all memory.
const MAX_TRANSFERS: f64 = 1e7;

impl ShortSpec {
    /// The short flows, of `flows` connections at most, in a run of this length. `key` is their place in the file, `capacity_bps` the payload
    /// that the path can carry if it has a rate of its own; files with a relative path are looked for in `folder`.
    pub(crate) fn resolve(
        &self,
        key: &str,
        folder: &Path,
        capacity_bps: Option<f64>,
        flows: u32,
        duration: Span,
    ) -> Result<ShortFlows, SpecError> {
        let wrong = |part: &str, message: String| SpecError::at(format!("{key}.{part}"), message);
        let sizes = self.size.resolve(folder).map_err(|e| wrong("size", e.to_string()))?;
        let arrivals = match (self.load, self.per_second, self.think) {
            (Some(Load(load)), None, None) => {
                let Some(capacity_bps) = capacity_bps else {
                    let why = "a load is a share of a link's rate, which a shared channel lacks: write `per_second`";
                    return Err(wrong("load", why.into()));
                };
                Arrivals::Poisson { per_second: load * capacity_bps / 8.0 / sizes.mean_bytes() }
            }
            (None, Some(per_second), None) if per_second > 0.0 && per_second.is_finite() => {
                Arrivals::Poisson { per_second }
            }
            (None, Some(_), None) => return Err(wrong("per_second", "per_second must be above 0".into())),
            (None, None, Some(think)) if think.ns > 0 => Arrivals::Users { think },
            (None, None, Some(_)) => return Err(wrong("think", "think must be above 0".into())),
            _ => {
                let why = "short flows need one of `load = \"30%\"`, `per_second = 20` and `think = \"2s\"`";
                return Err(SpecError::at(key, why));
            }
        };
        let (part, per_second) = match arrivals {
            Arrivals::Poisson { per_second } => (if self.load.is_some() { "load" } else { "per_second" }, per_second),
            Arrivals::Users { think } => ("think", f64::from(flows) / think.as_secs_f64()),
        };
        if per_second * duration.as_secs_f64() > MAX_TRANSFERS {
            let why = format!(
                "{per_second:.0} transfers a second are too many for {duration}: at most {MAX_TRANSFERS:.0} in a run"
            );
            return Err(wrong(part, why));
        }
        Ok(ShortFlows { arrivals, sizes, class_borders_bytes: self.borders().map_err(|e| wrong("classes", e))? })
    }

    fn borders(&self) -> Result<Vec<u64>, String> {
        let Some(classes) = &self.classes else { return Ok(USUAL_BORDERS.to_vec()) };
        let borders: Vec<u64> = classes.iter().map(|bytes| bytes.0).collect();
        if borders.len() > MAX_BORDERS {
            return Err(format!("at most {MAX_BORDERS} classes"));
        }
        match borders.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(format!("{} comes after {}: sizes must rise", Bytes(pair[1]), Bytes(pair[0]))),
            None => Ok(borders),
        }
    }
}

impl SizeSpec {
    fn resolve(&self, folder: &Path) -> Result<Sizes, UnitError> {
        match self {
            Self::Fixed(Bytes(bytes)) => Ok(Sizes::Fixed { bytes: *bytes }),
            Self::LogNormal(LogNormalSpec { median, sigma }) => match (0.0..=4.0).contains(sigma) {
                true => Ok(Sizes::LogNormal { median_bytes: median.0, sigma: *sigma }),
                false => Err(UnitError::new(format!("sigma must be 0 to 4, not {sigma}"))),
            },
            Self::Pareto(ParetoSpec { smallest, shape, largest }) => {
                if !(0.1..=100.0).contains(shape) {
                    return Err(UnitError::new(format!("shape must be 0.1 to 100, not {shape}")));
                }
                if largest.is_none() && *shape <= 1.0 {
                    return Err(UnitError::new(format!("with a shape of {shape} there is no mean: give `largest`")));
                }
                let largest = largest.unwrap_or(Bytes(MAX_BYTES));
                if largest <= *smallest {
                    return Err(UnitError::new(format!("largest, {largest}, must be above smallest, {smallest}")));
                }
                Ok(Sizes::Pareto { smallest_bytes: smallest.0, largest_bytes: largest.0, shape: *shape })
            }
            Self::File(FileSpec { path }) => SizeList::load(&named_file(folder, "path", path)).map(Sizes::Listed),
        }
    }
}

impl<'de> Deserialize<'de> for SizeSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(tag = "kind", rename_all = "lowercase")]
        enum Table {
            LogNormal(LogNormalSpec),
            Pareto(ParetoSpec),
            File(FileSpec),
        }
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = SizeSpec;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a size such as \"30kB\", or a table with `kind`: \"lognormal\", \"pareto\" or \"file\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeSpec, E> {
                text.parse().map(SizeSpec::Fixed).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<SizeSpec, E> {
                self.visit_str(&n.to_string())
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<SizeSpec, A::Error> {
                Ok(match Table::deserialize(de::value::MapAccessDeserializer::new(map))? {
                    Table::LogNormal(spec) => SizeSpec::LogNormal(spec),
                    Table::Pareto(spec) => SizeSpec::Pareto(spec),
                    Table::File(spec) => SizeSpec::File(spec),
                })
            }
        }
        d.deserialize_any(Visitor)
    }
}

impl FromStr for Load {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let t = text.trim();
        let (digits, scale) = t.strip_suffix('%').map_or((t, 1.0), |t| (t.trim(), 0.01));
        match digits.parse::<f64>().map(|share| share * scale) {
            Ok(share) if share > 0.0 && share <= 10.0 => Ok(Load(share)),
            Ok(_) => Err(UnitError::new(format!("load `{text}` is not above 0, at most 1000%"))),
            Err(_) => Err(UnitError::new(format!("`{text}` is not a load: write a share such as `30%`"))),
        }
    }
}

impl<'de> Deserialize<'de> for Load {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Load;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a load such as \"30%\" or 0.3")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Load, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_f64<E: de::Error>(self, share: f64) -> Result<Load, E> {
                self.visit_str(&share.to_string())
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Load, E> {
                self.visit_str(&n.to_string())
            }
        }
        d.deserialize_any(Visitor)
    }
}
