// SPDX-License-Identifier: MIT OR Apache-2.0
//! What results say of where they come from.

/// The commit that the program is made of.
pub const COMMIT: &str = env!("TANDEM_COMMIT");

/// The command line as it was given.
pub fn command_line() -> String {
    let quote = |arg: String| {
        let plain = !arg.is_empty() && arg.chars().all(|c| c.is_alphanumeric() || "-_./:=@,%+".contains(c));
        if plain { arg } else { format!("'{}'", arg.replace('\'', r"'\''")) }
    };
    let arguments = std::env::args_os().skip(1).map(|arg| quote(arg.to_string_lossy().into_owned()));
    std::iter::once("tandem".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
