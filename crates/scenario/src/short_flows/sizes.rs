// SPDX-License-Identifier: MIT OR Apache-2.0
//! How large short flows are.

use std::{fmt, path::Path, sync::Arc};

use serde::{Serialize, Serializer};

use crate::{
    bounded::{TRACE_BYTES, read_text},
    log_normal,
    units::{Bytes, UnitError},
};

/// The largest size that is drawn, bytes.
pub(super) const MAX_BYTES: u64 = 1_000_000_000_000_000;
/// The most lines of a file, so that a slip of the finger does not take all memory.
const MAX_LINES: usize = 1_000_000;

/// The distribution of sizes, bytes of payload.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sizes {
    /// All the same.
    Fixed {
        /// This one.
        bytes: u64,
    },
    /// The logarithm is normally distributed.
    LogNormal {
        /// As many are larger as are smaller.
        median_bytes: u64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// The share of those above a size falls with the power `-shape` of it. What would be larger than the largest has its size.
    Pareto {
        /// None is smaller.
        smallest_bytes: u64,
        /// None is larger.
        largest_bytes: u64,
        /// The smaller it is, the more of the data is in the largest.
        shape: f64,
    },
    /// Those of a file, each as likely as the others.
    Listed(SizeList),
}

impl Sizes {
    /// The mean, bytes.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            Self::Fixed { bytes } => *bytes as f64,
            Self::LogNormal { median_bytes, sigma } => *median_bytes as f64 * log_normal::mean(*sigma),
            // The integral of the share of those above each size.
            Self::Pareto { smallest_bytes, largest_bytes, shape } => {
                let (least, ratio) = (*smallest_bytes as f64, *largest_bytes as f64 / *smallest_bytes as f64);
                let tail = match shape - 1.0 {
                    above if above.abs() < 1e-9 => libm::log(ratio),
                    above => (1.0 - libm::pow(ratio, -above)) / above,
                };
                least * (1.0 + tail)
            }
            Self::Listed(list) => list.mean_bytes(),
        }
    }

    /// The size that this share of the transfers is below; `normal_quantile` is that of the standard normal distribution. It is at least a
    /// byte.
    pub fn quantile_bytes(&self, share: f64, normal_quantile: fn(f64) -> f64) -> u64 {
        let bytes = match self {
            Self::Fixed { bytes } => return *bytes,
            Self::LogNormal { median_bytes, sigma } => {
                *median_bytes as f64 * log_normal::quantile(*sigma, normal_quantile(share))
            }
            Self::Pareto { smallest_bytes, largest_bytes, shape } => {
                let bytes = *smallest_bytes as f64 * libm::pow(1.0 - share, -1.0 / shape);
                bytes.min(*largest_bytes as f64)
            }
            Self::Listed(list) => return list.0[(share * list.0.len() as f64) as usize],
        };
        (bytes.round() as u64).clamp(1, MAX_BYTES)
    }
}

/// Sizes from a file, bytes; at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeList(Arc<[u64]>);

/// As a text: a list of thousands of numbers would bury what is around it.
impl Serialize for SizeList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sizes: Vec<String> = self.0.iter().map(u64::to_string).collect();
        serializer.serialize_str(&sizes.join(" "))
    }
}

impl SizeList {
    /// The sizes in their order.
    pub fn bytes(&self) -> &[u64] {
        &self.0
    }

    /// Their mean.
    pub fn mean_bytes(&self) -> f64 {
        self.0.iter().map(|&bytes| bytes as f64).sum::<f64>() / self.0.len() as f64
    }

    /// Reads a file with a size on each line, such as `15kB`; lines that are empty or begin with `#` count for nothing.
    ///
    /// # Errors
    /// If the file cannot be read, is no text, has no size, or has a line that is none.
    pub fn load(path: &Path) -> Result<Self, UnitError> {
        let name = path.display();
        let text = read_text(path, TRACE_BYTES)
            .map_err(|e| UnitError::new(format!("the sizes' file `{name}` cannot be read: {e}")))?;
        Self::parse(&text, &name)
    }

    /// As [`load`](Self::load), from text; `name` is for messages.
    ///
    /// # Errors
    /// If the text has no size, or a line that is none.
    pub fn parse(text: &str, name: &dyn fmt::Display) -> Result<Self, UnitError> {
        let mut sizes = Vec::new();
        for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let size = line.parse::<Bytes>().map_err(|e| UnitError::new(format!("{name}:{number}: {e}")))?;
            if size.0 > MAX_BYTES || sizes.len() == MAX_LINES {
                let why = format!("{name}:{number}: at most {MAX_LINES} sizes, each at most {}", Bytes(MAX_BYTES));
                return Err(UnitError::new(why));
            }
            sizes.push(size.0);
        }
        if sizes.is_empty() {
            return Err(UnitError::new(format!("{name}: there is no size: write one on each line, such as `15kB`")));
        }
        Ok(Self(sizes.into()))
    }
}
