// SPDX-License-Identifier: MIT OR Apache-2.0
//! File descriptors: how many a scenario takes, and how many the process may have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tandem_scenario::{Group, Scenario};

use crate::error::{Doing, Error};

/// More than a controller has programs, maps and links in the kernel: some 16.
const MAX_PER_CONTROLLER: u64 = 32;
/// More than the program has open besides: its files, namespaces and devices, netlink, /proc.
const MAX_OTHERS: u64 = 100;

/// How many a run has open at a time, at most.
pub fn wanted(scenario: &Scenario) -> u64 {
    let controllers = scenario.groups.iter().filter(|g| g.source.params().is_some()).count() as u64;
    // Two sockets a flow: first all that listen, then, in place of each of these, the two ends of its connection. Short flows go on listening,
    // and the next connection may be there before the last one is gone.
    let sockets = |g: &Group| u64::from(g.flows) * if g.source.short().is_some() { 5 } else { 2 };
    scenario.groups.iter().map(sockets).sum::<u64>() + MAX_PER_CONTROLLER * controllers + MAX_OTHERS
}

/// To what the limit can be raised; `None`: there is none.
pub fn hard_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// Raises the limit, as far as that goes, if it is below what is wanted. On most machines 1024 is where it begins, and programs are
/// expected to raise it themselves.
pub fn allow(wanted: u64) -> Result<(), Error> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).doing("raise the limit of open files")
}

#[cfg(test)]
mod tests {
    use tandem_scenario::file::{Overrides, parse};

    use super::*;

    fn wanted_by(flows: &str) -> u64 {
        let text = format!("duration = \"1s\"\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"40ms\"\nqueue = \"9p\"\n{flows}");
        wanted(&parse(&text, "s.toml", "s", &Overrides::default()).unwrap())
    }

    #[test]
    fn each_flow_wants_two_and_each_controller_of_ours_some() {
        let few = wanted_by("[[flows]]\ncontroller = \"kernel:cubic\"\n");
        assert_eq!(wanted_by("[[flows]]\ncontroller = \"kernel:cubic\"\ncount = 1000\n"), few + 2 * 999);
        assert_eq!(wanted_by("[[flows]]\nudp = { rate = \"1mbit\" }\n"), few);
        assert_eq!(wanted_by("[[flows]]\ncontroller = \"reno\"\n"), few + MAX_PER_CONTROLLER);
    }

    /// The limit is the whole test program's, but its other tests make do with 1000.
    #[test]
    fn the_limit_is_raised_as_far_as_it_goes() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let set = |current| setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
        let current = || getrlimit(Resource::Nofile).current;
        set(Some(maximum.map_or(1000, |most| most.min(1000))));
        let low = current();
        allow(low.unwrap()).unwrap();
        assert_eq!(current(), low, "though it was enough");
        allow(low.unwrap() + 1).unwrap();
        assert_eq!(current(), maximum);
    }
}
