// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a [`ScenarioSpec`] to a [`Scenario`]: defaults are filled in, routes found, and all is checked.

mod bounds;
mod flows;
mod network;
mod wlan;

use std::fmt;

use tandem_controllers::Setting;

use crate::{
    controller::Settings,
    scenario::{DEFAULT_MTU, Group, HEADER_BYTES, Parts, Scenario},
    spec::ScenarioSpec,
    units::Span,
};

/// The most seeds, or flows in a group, so that a slip of the finger does not take all memory.
pub const MAX_COUNT: u32 = 100_000;

/// The most samples over time, for the same reason.
const MAX_SAMPLES: u64 = 1_000_000;

/// What is wrong with a scenario, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SpecError {
    /// The key with its tables, such as `dumbbell.queue` or `flows.0.start`; empty if the error has no place.
    pub key: String,
    /// What is wrong, and how to fix it.
    pub message: String,
}

impl SpecError {
    pub(crate) fn at(key: impl Into<String>, message: impl fmt::Display) -> Self {
        Self { key: key.into(), message: message.to_string() }
    }

    pub(crate) fn nowhere(message: impl fmt::Display) -> Self {
        Self::at("", message)
    }
}

/// The command line's settings. They take precedence over those of groups, and these over those for the whole
/// scenario.
#[derive(Debug, Default, Clone)]
pub struct Overrides {
    /// Number of seeds (`--seeds`).
    pub seeds: Option<u32>,
    /// The seed of the first repetition (`--seed`).
    pub first_seed: Option<u64>,
    /// Switches delayed ACKs off for all TCP flows (`--no-delayed-acks`).
    pub no_delayed_acks: bool,
    /// Parameters of controllers (`--set`).
    pub settings: Settings,
}

impl Overrides {
    /// Puts all of it into the scenario's description.
    ///
    /// # Errors
    /// If no flow has a parameter that is set.
    pub fn apply(&self, spec: &mut ScenarioSpec) -> Result<(), SpecError> {
        spec.seeds = self.seeds.or(spec.seeds);
        spec.first_seed = self.first_seed.or(spec.first_seed);
        if self.no_delayed_acks {
            let with_controller = spec.flows.iter_mut().filter(|f| f.controller.is_some());
            with_controller.for_each(|flows| flows.delayed_acks = Some(false));
        }
        for setting in self.settings.iter() {
            if !spec.has_parameter(setting) {
                let name = setting.controller().name;
                let message = format!("--set {name}.{setting} does nothing: no flow has the controller `{name}`");
                return Err(SpecError::nowhere(message));
            }
            spec.flows.iter_mut().filter_map(|f| f.controller.as_mut()).for_each(|c| c.replace(setting));
            spec.set.replace(*setting);
        }
        Ok(())
    }
}

impl ScenarioSpec {
    /// The scenario, complete and checked.
    ///
    /// # Errors
    /// [`SpecError`] names the first key that is wrong, and what is wrong with it.
    pub fn check(&self) -> Result<Scenario, SpecError> {
        let name = self.name.clone().unwrap_or_else(|| "scenario".into());
        check_name("name", &name)?;
        let Self { duration, warmup, .. } = *self;
        if duration <= warmup {
            let message = format!("duration {duration} must be longer than the warm-up, {warmup}");
            return Err(SpecError::at("duration", message));
        }
        let mtu = self.mtu.unwrap_or(DEFAULT_MTU);
        if !(HEADER_BYTES + 64..=65535).contains(&mtu) {
            return Err(SpecError::at("mtu", format!("mtu must be {} to 65535 bytes", HEADER_BYTES + 64)));
        }
        let seeds = self.checked_seeds()?;
        let network = self.network_with_effects(mtu)?;
        let sample_interval = self.checked_sample_interval()?;
        if self.flows.is_empty() {
            return Err(SpecError::at("flows", "there are no flows: add [[flows]]"));
        }
        self.check_settings()?;
        let mut groups: Vec<Group> = Vec::new();
        for place in 0..self.flows.len() {
            let mut group = self.group(place, &network, mtu)?;
            let twins = groups.iter().filter(|g| g.name.split(" #").next() == Some(&group.name)).count();
            if twins > 0 {
                group.name = format!("{} #{}", group.name, twins + 1);
            }
            groups.push(group);
        }
        let send_jitter = self.send_jitter.unwrap_or_else(|| Parts::default_send_jitter(&network, &groups, mtu));
        let parts = Parts {
            name,
            duration,
            warmup,
            seeds,
            mtu,
            send_jitter,
            send_jitter_is_given: self.send_jitter.is_some(),
            sample_interval,
            network,
            groups,
        };
        let scenario = Scenario::new(parts);
        self.check_bounds(&scenario)?;
        self.check_rtts(&scenario)?;
        Ok(scenario)
    }

    fn checked_seeds(&self) -> Result<Vec<u64>, SpecError> {
        let (first, count) = (self.first_seed.unwrap_or(1), self.seeds.unwrap_or(1));
        if !(1..=MAX_COUNT).contains(&count) {
            return Err(SpecError::at("seeds", format!("seeds must be at least 1, at most {MAX_COUNT}")));
        }
        Ok((0..u64::from(count)).map(|i| first.wrapping_add(i)).collect())
    }

    fn checked_sample_interval(&self) -> Result<Span, SpecError> {
        let duration = self.duration;
        let wrong = |message: String| Err(SpecError::at("sample_interval", message));
        match self.sample_interval {
            Some(interval) if interval.ns < 1000 => wrong("sample_interval must be at least 1us".into()),
            Some(interval) if duration.ns / interval.ns > MAX_SAMPLES => wrong(format!(
                "sample_interval is too short: at most {MAX_SAMPLES} samples in the duration, {duration}"
            )),
            Some(interval) => Ok(interval),
            None => Ok(Parts::default_sample_interval(duration)),
        }
    }

    /// A setting that no flow has would do nothing, and nobody would notice.
    fn check_settings(&self) -> Result<(), SpecError> {
        match self.set.iter().find(|setting| !self.has_parameter(setting)) {
            None => Ok(()),
            Some(idle) => {
                let name = idle.controller().name;
                let message = format!("this does nothing: no flow has the controller `{name}`; leave it out");
                Err(SpecError::at(format!("set.{name}.{}", idle.name()), message))
            }
        }
    }

    /// Would nothing be acknowledged before the end?
    fn check_rtts(&self, scenario: &Scenario) -> Result<(), SpecError> {
        let longest = |group: &Group| scenario.rtt_with_access(group, group.access.ns + group.rtt_spread.ns);
        let is_too_long = |group: &&Group| longest(group) >= self.duration;
        let Some(group) = scenario.groups.iter().find(is_too_long) else { return Ok(()) };
        let (rtt, duration) = (longest(group), self.duration);
        let message = format!(
            "`{}` has an RTT of {rtt}, which does not fit the duration, {duration}: shorten it, or run longer",
            group.name
        );
        let place = scenario.groups.iter().position(|g| g.name == group.name).unwrap_or(0);
        Err(SpecError::at(self.key_of_rtt(place), message))
    }

    /// Where the RTT of the group at this place of `flows` is given.
    fn key_of_rtt(&self, place: usize) -> String {
        match (&self.flows[place].rtt, &self.dumbbell) {
            (None, Some(_)) => "dumbbell.rtt".to_owned(),
            _ => format!("flows.{place}.rtt"),
        }
    }

    /// Has any flow this parameter?
    pub fn has_parameter(&self, setting: &Setting) -> bool {
        self.flows.iter().filter_map(|f| f.controller.as_ref()).any(|c| c.has_parameter(setting))
    }
}

/// A name that a table, a terminal and a folder can show.
pub(crate) fn check_name(key: &str, name: &str) -> Result<(), SpecError> {
    if name.trim().is_empty() {
        return Err(SpecError::at(key, "a name must not be empty"));
    }
    if name.chars().any(char::is_control) {
        let message = format!("the name `{}` has a control character: leave it out", name.escape_debug());
        return Err(SpecError::at(key, message));
    }
    Ok(())
}
