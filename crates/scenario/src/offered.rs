// SPDX-License-Identifier: MIT OR Apache-2.0
//! An application that writes at random or in frames: its keys, what they come to, and what it says of itself.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{
    named_file::named_file,
    short_flows::SizeList,
    units::{Bytes, Rate, Span, seconds},
};

/// The largest write, bytes.
const MAX_WRITE_BYTES: u64 = 1_000_000_000;
/// Frames a second at most.
const MAX_FRAMES: f64 = 1000.0;
/// The widest distribution of frames' sizes. Of a thousand frames the largest is then some hundred times the mean.
const MAX_SIGMA: f64 = 2.0;

/// When an application writes, as written: `{ kind = "poisson" }`, `{ kind = "on-off", on = "1s", off = "1s" }` or
/// `{ kind = "frames", per_second = 30, sigma = 0.5 }`. The mean rate is what the application offers.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProcessSpec {
    /// A Poisson process.
    Poisson {
        /// Payload of a write; a full segment if not given.
        size: Option<Bytes>,
    },
    /// Evenly while on, and nothing while off. Both times are exponentially distributed.
    OnOff {
        /// Mean time on.
        on: Span,
        /// Mean time off.
        off: Span,
        /// Payload of a write; a full segment if not given.
        size: Option<Bytes>,
    },
    /// At even times, each as large as a frame of video.
    Frames {
        /// How often.
        per_second: f64,
        /// Standard deviation of the logarithm of the sizes; 0 if not given: all have one size.
        sigma: Option<f64>,
        /// A file with a size on each line, instead of `sigma`. They count in proportion to their mean.
        path: Option<PathBuf>,
    },
}

/// The same, checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Process {
    /// The gaps between writes are exponentially distributed.
    Poisson,
    /// Evenly while on, and nothing while off. Both times are exponentially distributed.
    OnOff {
        /// Mean time on.
        #[serde(rename = "on_s", serialize_with = "seconds")]
        on: Span,
        /// Mean time off.
        #[serde(rename = "off_s", serialize_with = "seconds")]
        off: Span,
    },
    /// At even times a frame, in full segments: what is left below a segment comes with the next frame.
    Frames {
        /// How often.
        per_second: f64,
        /// How large.
        sizes: FrameSizes,
    },
}

/// The sizes of frames, whose mean is the rate over the number of frames a second.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameSizes {
    /// The logarithm is normally distributed.
    LogNormal {
        /// Its standard deviation.
        sigma: f64,
    },
    /// In proportion to those of a file, in its order, over and over again.
    Listed(SizeList),
}

impl ProcessSpec {
    /// The process and the payload of a write, bytes, rounded up to full segments; of frames: a segment. `rates_bps` are all mean rates that
    /// it is to have; files with a relative path are looked for in `folder`. What is out of range is refused in words.
    pub(crate) fn check(
        &self,
        segment_bytes: u32,
        rates_bps: impl Iterator<Item = u64>,
        folder: &Path,
    ) -> Result<(Process, u32), String> {
        match self {
            Self::Poisson { size } => Ok((Process::Poisson, piece_bytes(*size, segment_bytes)?)),
            Self::OnOff { on, off, size } => {
                let piece_bytes = piece_bytes(*size, segment_bytes)?;
                on_off(*on, *off, piece_bytes, rates_bps).map(|process| (process, piece_bytes))
            }
            Self::Frames { per_second, sigma, path } => {
                let path = path.as_ref().map(|path| named_file(folder, "path", path));
                let process = frames(*per_second, *sigma, path.as_deref(), segment_bytes, rates_bps)?;
                Ok((process, segment_bytes))
            }
        }
    }
}

fn piece_bytes(size: Option<Bytes>, segment_bytes: u32) -> Result<u32, String> {
    let bytes = size.map_or(u64::from(segment_bytes), |size| size.0);
    if bytes > MAX_WRITE_BYTES {
        return Err(format!("`size` must be at most {}", Bytes(MAX_WRITE_BYTES)));
    }
    Ok((bytes as u32).next_multiple_of(segment_bytes))
}

fn on_off(on: Span, off: Span, piece_bytes: u32, mut rates_bps: impl Iterator<Item = u64>) -> Result<Process, String> {
    if on.ns == 0 || off.ns == 0 {
        return Err("on-off needs `on` and `off` above 0".into());
    }
    let cycle_s = on.as_secs_f64() + off.as_secs_f64();
    let has_no_write = |&bps: &u64| bps > 0 && (bps as f64) * cycle_s < 8.0 * f64::from(piece_bytes);
    match rates_bps.find(has_no_write) {
        Some(bps) => Err(format!(
            "at {} a time `on` has not one write of {piece_bytes} bytes on average: make `on` and `off` longer, or write less at a time",
            Rate { bps }
        )),
        None => Ok(Process::OnOff { on, off }),
    }
}

fn frames(
    per_second: f64,
    sigma: Option<f64>,
    path: Option<&Path>,
    segment_bytes: u32,
    mut rates_bps: impl Iterator<Item = u64>,
) -> Result<Process, String> {
    if !(per_second > 0.0 && per_second <= MAX_FRAMES) {
        return Err(format!("per_second must be above 0 and at most {MAX_FRAMES}"));
    }
    let sizes = match (sigma.unwrap_or(0.0), path) {
        (_, Some(_)) if sigma.is_some() => return Err("frames have `sigma` or `path`: leave one out".into()),
        (_, Some(path)) => FrameSizes::Listed(SizeList::load(path).map_err(|e| e.to_string())?),
        (sigma, None) if (0.0..=MAX_SIGMA).contains(&sigma) => FrameSizes::LogNormal { sigma },
        _ => return Err(format!("sigma must be 0 to {MAX_SIGMA}")),
    };
    if matches!(&sizes, FrameSizes::Listed(list) if list.mean_bytes() == 0.0) {
        return Err("the frames of the file are all empty".into());
    }
    let bytes = |bps: u64| bps as f64 / 8.0 / per_second;
    let is_wrong = |&bps: &u64| bps > 0 && !(f64::from(segment_bytes)..=MAX_WRITE_BYTES as f64).contains(&bytes(bps));
    match rates_bps.find(is_wrong) {
        Some(bps) => Err(format!(
            "at {} a frame has {:.0} bytes on average: {segment_bytes} (a segment) to {} are possible",
            Rate { bps },
            bytes(bps),
            Bytes(MAX_WRITE_BYTES)
        )),
        None => Ok(Process::Frames { per_second, sizes }),
    }
}

impl Process {
    /// As a part of a sentence on what an application offers; `piece_bytes` is the payload of a write.
    pub fn in_words(&self, piece_bytes: u32) -> String {
        let size = Bytes(piece_bytes.into()).in_words();
        match self {
            Self::Poisson => format!(" on average, in writes of {size} at random (Poisson)"),
            Self::OnOff { on, off } => {
                format!(" on average, in writes of {size}, {} on and {} off at random", on.in_words(), off.in_words())
            }
            Self::Frames { per_second, sizes } => {
                let sizes = match sizes {
                    FrameSizes::LogNormal { sigma: 0.0 } => "of one size".to_owned(),
                    FrameSizes::LogNormal { sigma } => format!("of log-normal sizes (sigma {sigma})"),
                    FrameSizes::Listed(_) => "of the sizes in a file".to_owned(),
                };
                format!(" on average, in {per_second} frames a second {sizes}")
            }
        }
    }
}
