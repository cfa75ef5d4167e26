// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong between a scenario and the machine.

use std::io;

/// Why a scenario did not run, and how to fix it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused something.
    #[error("cannot {what}: {cause}{}", mend(.cause))]
    System {
        /// What was being done.
        what: String,
        /// The system's answer. Not `source`: an error printed with its sources would show it twice.
        cause: io::Error,
    },
    /// A controller could not be put into the kernel, or not be read there.
    #[error(transparent)]
    Controller(#[from] tandem_kernel::Error),
    /// Real TCP cannot do what the scenario asks for.
    #[error("{0}")]
    Unsupported(String),
}

fn mend(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::PermissionDenied => "; the kernel engine needs root (CAP_NET_ADMIN and CAP_SYS_ADMIN): use sudo",
        _ => "",
    }
}

/// Adds to an operating system's error what was being done.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|e| Error::System { what: what.into(), cause: e.into() })
    }
}
