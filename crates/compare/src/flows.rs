// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows as users name them: `compound@gamma=20,alpha=0.25:4`.

use std::str::FromStr;

use tandem_scenario::{ControllerSpec, KERNEL_PREFIX, NOQ_PREFIX, controller::ControllerError, file::MAX_COUNT};

/// `compound:4` or `compound@gamma=20,alpha=0.25:4`: flows of one controller. `:4` may be left out for one flow.
#[derive(Debug, Clone)]
pub struct Flows {
    /// The controller with its parameters.
    pub name: String,
    /// Number of flows.
    pub count: u32,
    /// What controls them.
    pub controller: ControllerSpec,
}

/// Why a text names no flows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FlowsError {
    /// Their controller.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// Their number.
    #[error(transparent)]
    Count(#[from] CountError),
}

/// What is no number of flows: none, too many or no number at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{count}` is not a number of flows from 1 to {MAX_COUNT}: write {what}:FLOWS")]
pub struct CountError {
    /// As it was written.
    pub count: String,
    /// What stands for the name before it.
    pub what: String,
}

impl FromStr for Flows {
    type Err = FlowsError;
    fn from_str(text: &str) -> Result<Self, FlowsError> {
        let (name, count) = name_and_count(text, "CONTROLLER")?;
        Ok(Self::new(name.parse::<ControllerSpec>()?, count))
    }
}

/// `NAME:FLOWS`; one flow if their number is left out. `what` stands for the name in messages.
///
/// # Errors
/// If the number of flows is none, or too large.
pub fn name_and_count<'a>(text: &'a str, what: &str) -> Result<(&'a str, u32), CountError> {
    // Others' controllers have a colon in their name.
    let prefix = [KERNEL_PREFIX, NOQ_PREFIX].into_iter().find(|prefix| text.starts_with(prefix));
    let start = prefix.map_or(0, str::len);
    let colon = text[start..].find(':').map(|i| start + i);
    let (name, count) = colon.map_or((text, "1"), |colon| (&text[..colon], &text[colon + 1..]));
    match count.parse() {
        Ok(n @ 1..=MAX_COUNT) => Ok((name, n)),
        _ => Err(CountError { count: count.to_owned(), what: what.to_owned() }),
    }
}

/// Whether a comparison of these against the same neighbours is fair.
pub fn same_number_of_flows(contenders: &[Flows]) -> bool {
    contenders.windows(2).all(|pair| pair[0].count == pair[1].count)
}

impl Flows {
    /// A number of flows of a controller.
    pub fn new(controller: ControllerSpec, count: u32) -> Self {
        Self { name: controller.to_string(), count, controller }
    }

    /// Another number of the same flows.
    pub fn with_count(&self, count: u32) -> Self {
        Self { count, ..self.clone() }
    }
}
