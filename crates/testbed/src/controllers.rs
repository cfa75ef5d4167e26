// SPDX-License-Identifier: MIT OR Apache-2.0
//! Puts a scenario's controllers into the kernel for the length of a run.

use std::{
    collections::HashMap,
    net::SocketAddr,
    path::Path,
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use tandem_controllers::View;
use tandem_kernel::{Attached, attach};
use tandem_scenario::{CongestionControl, Scenario, Traffic};

use crate::error::Error;

/// The congestion controls of a scenario's groups. Ours are registered for as long as this lives: also if the program is
/// killed, the kernel takes them away with it (Linux 6.4 on).
pub struct Controllers {
    /// By group, what sockets call it; empty for UDP.
    names: Vec<String>,
    attached: Vec<Attached>,
}

impl Controllers {
    /// Each group has a registration of its own, with its own parameters. Takes away what killed runs have left.
    pub fn attach(scenario: &Scenario) -> Result<Self, Error> {
        remove_leftovers()?;
        let mut attached = Vec::new();
        let mut name = |source: &Traffic| match source.tcp().map(|tcp| &tcp.controller) {
            None => Ok(String::new()),
            Some(other @ CongestionControl::Noq(_)) => {
                Err(Error::Unsupported(format!("`{other}` is the QUIC stack's own: run it with --engine quic")))
            }
            Some(CongestionControl::Kernel(name)) => Ok(name.clone()),
            Some(CongestionControl::Tandem(params)) => {
                let name = unused_name();
                attached.push(attach(params, &name)?);
                Ok(name)
            }
        };
        let names = scenario.groups.iter().map(|g| name(&g.source)).collect::<Result<_, Error>>()?;
        Ok(Self { names, attached })
    }

    pub fn name_of(&self, group: usize) -> &str {
        &self.names[group]
    }

    /// What our controllers in the calling thread's namespace show of themselves, by the sender's address.
    pub fn views(&self) -> Result<HashMap<SocketAddr, View>, Error> {
        let mut views = HashMap::new();
        for attached in &self.attached {
            views.extend(attached.flows()?.iter().map(|flow| (flow.local(), flow.view)));
        }
        Ok(views)
    }
}

/// The kernel has one list of names for the whole machine: two runs at once must not meet in it.
pub fn unused_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("t{:x}_{:x}", process::id(), COUNT.fetch_add(1, Relaxed))
}

/// Takes away the controllers of runs that were killed, which Linux before 6.4 keeps.
fn remove_leftovers() -> Result<(), Error> {
    tandem_kernel::remove_leftovers(is_of_a_dead_process)?;
    Ok(())
}

/// Takes away all that killed runs, loads and unloads have left; the names.
///
/// # Errors
/// [`Error`] if the process may not, or the kernel refuses.
pub fn clean_up() -> Result<Vec<String>, Error> {
    Ok(tandem_kernel::clean_up(is_of_a_dead_process)?)
}

fn is_of_a_dead_process(name: &str) -> bool {
    process_of(name).is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists())
}

/// The process that gave a controller its name, if [`unused_name`] made it.
fn process_of(name: &str) -> Option<u32> {
    let (process, count) = name.strip_prefix('t')?.split_once('_')?;
    let number = |text: &str| u32::from_str_radix(text, 16).ok();
    number(count).and(number(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_process() {
        assert_eq!(process_of(&unused_name()), Some(process::id()));
        assert_eq!(process_of("t1f_a"), Some(31));
        for other in ["cubic", "compound_tube", "t_1", "t1f", "t1f_", "tube_1", "x1f_a"] {
            assert_eq!(process_of(other), None, "{other}");
        }
    }
}
