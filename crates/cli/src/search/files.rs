// SPDX-License-Identifier: MIT OR Apache-2.0
//! The finds of a search as files.

use std::{fs, path::Path};

use anyhow::Context;
use tandem_evaluate::from_folder;
use tandem_scenario::controller::in_folder;
use tandem_search::{Compared, Find, Results, Side, Space, find_file, find_name};

use crate::{failure::Failure, folder::make_folder, output::write};

/// Each find's scenario, in the place of those of an earlier search.
pub fn write_files(results: &Results, folder: &Path) -> Result<(), Failure> {
    let old = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    for entry in old.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("find-") && name.ends_with(".toml") {
            fs::remove_file(entry.path()).with_context(|| format!("cannot remove `{}`", entry.path().display()))?;
        }
    }
    results.finds.iter().try_for_each(|found| write(&folder.join(find_file(&found.name)), &found.scenario))
}

/// The finds as criteria, in a folder where those of other searches stay.
pub fn keep(
    results: &Results,
    folder: &Path,
    space: &Space,
    compared: &Compared,
    finds: &[Find],
) -> Result<(), Failure> {
    make_folder(folder)?;
    let spelled = |name: &str| from_folder(name, folder).unwrap_or_else(|_| name.to_owned());
    let [contender, baseline] = [compared.contender, compared.baseline].map(|side| spelled(side.controller));
    let from_there = Compared {
        contender: Side { controller: &contender, ..compared.contender },
        baseline: Side { controller: &baseline, ..compared.baseline },
        ..*compared
    };
    for (i, find) in finds.iter().enumerate() {
        let name = find_name(i);
        let text = in_folder(folder, || from_there.criterion_file(space, find, &name, results.least));
        let path = folder.join(find_file(&kept_name(results, &name)));
        text.map_or(Ok(()), |text| write(&path, &text))?;
    }
    Ok(())
}

/// Tells finds of several searches apart.
fn kept_name(results: &Results, find: &str) -> String {
    let controller = Path::new(&results.contender).file_name().unwrap_or_default().to_string_lossy();
    let controller: String = controller.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    format!("{controller}-{}-{find}", results.worst)
}
