// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem generate`: the files that packages contain besides the program. Hidden, because users do not need it.

use std::{fs, path::Path};

use anyhow::Context;
use clap_complete::Shell;

use crate::failure::Failure;

/// Writes the man pages, and the completions of shells.
pub fn generate(command: clap::Command, folder: &Path) -> Result<(), Failure> {
    // `tandem help compare` needs no page of its own.
    let mut command = command.disable_help_subcommand(true);
    let write = || {
        fs::create_dir_all(folder)?;
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            clap_complete::generate_to(shell, &mut command, "tandem", folder)?;
        }
        clap_mangen::generate_to(command, folder)
    };
    Ok(write().with_context(|| format!("cannot write to `{}`; choose another folder", folder.display()))?)
}
