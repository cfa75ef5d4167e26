// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names under which controllers are registered: which can be, which are free, and which one a controller has by default.

use tandem_controllers::Controller;

use crate::{Error, bpffs, object::is_registered, sysctl};

/// TCP_CA_NAME_MAX: the bytes of a name, including its terminating zero.
pub(crate) const NAME_BYTES: usize = 16;

pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let fits = (1..NAME_BYTES).contains(&name.len());
    if fits && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(());
    }
    Err(Error::BadName(name.to_owned()))
}

/// The name under which a controller is loaded if the user gives none: its own, or `tandem_NAME` where the kernel or another program has a
/// controller of that name, as many kernels have `bbr`.
///
/// # Errors
/// [`Error::Io`] if the kernel does not tell the names that it has.
pub fn usual_name(controller: &Controller) -> Result<String, Error> {
    match check_free(controller.name) {
        Err(Error::NameTaken { name }) => Ok(other_name(&name)),
        // A controller that is already loaded is refused by its name.
        Ok(()) | Err(Error::AlreadyLoaded { .. }) => Ok(controller.name.to_owned()),
        Err(e) => Err(e),
    }
}

/// The name for a controller whose own is taken; cut to what fits.
pub(crate) fn other_name(name: &str) -> String {
    format!("tandem_{name}").chars().take(NAME_BYTES - 1).collect()
}

pub(crate) fn check_free(name: &str) -> Result<(), Error> {
    if !sysctl::available()?.iter().any(|n| n == name) {
        return Ok(());
    }
    Err(match is_registered(&bpffs::controller(name)) {
        true => Error::AlreadyLoaded { name: name.to_owned() },
        false => Error::NameTaken { name: name.to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_for_one_whose_own_is_taken_fits() {
        assert_eq!(other_name("bbr"), "tandem_bbr");
        let cut = other_name("compound_tube");
        assert!(check_name(&cut).is_ok() && cut.starts_with("tandem_compound"), "{cut}");
    }
}
