// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a command fails, which decides its exit status.

/// How a command failed.
pub enum Failure {
    /// The request makes no sense: exit status 2.
    Usage(anyhow::Error),
    /// It made sense, but did not work: exit status 1.
    Failed(anyhow::Error),
    /// A command that was run for the user (`tandem shell`, on Linux) ended with this status.
    #[cfg_attr(not(all(feature = "linux", target_os = "linux")), expect(dead_code))]
    Command(u8),
    /// Interrupted; what was done has been written: exit status 130.
    Interrupted,
}

impl Failure {
    /// Wrong usage, in one line.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Failure::Usage(anyhow::anyhow!("{message}"))
    }
}

impl From<tandem_batch::BatchError> for Failure {
    fn from(error: tandem_batch::BatchError) -> Self {
        Failure::Failed(error.into())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Failed(error)
    }
}
