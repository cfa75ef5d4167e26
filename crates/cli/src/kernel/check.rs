// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem kernel check`.

use anyhow::anyhow;
use tandem_controllers::CONTROLLERS;
use tandem_kernel::{Check, Feature};

use super::table;
use crate::{failure::Failure, output::json_text, terminal::print};

/// Fails if a controller would not load, so that a script can ask.
pub fn check(json: bool) -> Result<(), Failure> {
    let check = tandem_kernel::check();
    if json {
        print(&json_text(&check)?)?;
    } else {
        print(&text(&check))?;
    }
    match check.controllers.iter().filter(|c| c.obstacle.is_some()).count() {
        0 => Ok(()),
        n => Err(Failure::Failed(anyhow!("{n} of {} controllers will not load here", check.controllers.len()))),
    }
}

fn text(check: &Check) -> String {
    let mut features = table(["", "", ""]);
    for Feature { name, present, required, note } in &check.features {
        let mark = match (present, required) {
            (true, _) => "yes",
            (false, true) => "NO",
            (false, false) => "no",
        };
        features.add_row([*name, mark, *note]);
    }
    let mut controllers = table(["", ""]);
    for c in &check.controllers {
        controllers.add_row([c.controller, c.obstacle.as_deref().unwrap_or("will load")]);
    }
    for (c, reason) in CONTROLLERS.iter().filter_map(|c| Some((c, c.kernel_obstacle()?))) {
        controllers.add_row([c.name, &format!("not for the kernel: {reason}")]);
    }
    format!("Linux {}\n{features}\n\nControllers\n{controllers}\n", check.kernel)
}
