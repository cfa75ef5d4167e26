// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong.

use std::{io, path::PathBuf};

use tandem_engine::EngineError;

/// Why a batch did not run.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] EngineError),
}

/// What is wrong with a store, and how to fix it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Its folder is no place for it.
    #[error("`{folder}` cannot hold finished runs; TANDEM_STORE=DIR names another", folder = folder.display())]
    Place {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It cannot be looked through.
    #[error("cannot read the finished runs in `{folder}`", folder = folder.display())]
    Read {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Something cannot be taken out.
    #[error("cannot take finished runs out of `{folder}`", folder = folder.display())]
    Prune {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
}
