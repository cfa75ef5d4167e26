// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong.

use std::{fs::TryLockError, io};

use tandem_engine::EngineError;

/// Why a batch did not run, or its store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] EngineError),
    /// Nothing can be kept in the store.
    #[error("cannot keep results in `{path}`")]
    Keep {
        /// The store's file.
        path: String,
        /// Why.
        #[source]
        cause: StoreError,
    },
    /// What the store holds cannot be used.
    #[error("cannot use the results in `{path}`")]
    Use {
        /// The store's file.
        path: String,
        /// Why.
        #[source]
        cause: StoreError,
    },
    /// A result was not written.
    #[error("cannot write to the store of results: is the disk full?")]
    Write(#[source] io::Error),
}

/// What is wrong with a store, and the mend.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another process has it.
    #[error("another run is using it; wait for that, or choose another folder with --out")]
    InUse(#[source] TryLockError),
    /// Another build wrote it, whose results may differ.
    #[error("another build of this program made them: use that one, or run the experiments again with this one")]
    OtherBuild,
    /// Its first line is not that of a store.
    #[error("its first line is damaged, or it holds other things. Move it elsewhere: its runs are made again")]
    NoStore,
    /// A line is not as it was written.
    #[error("its line {number} is damaged. Take the line out, and its run is made again: sed -i {number}d '{path}'")]
    Damaged {
        /// Its number, from 1.
        number: usize,
        /// The store's file.
        path: String,
        /// Why it cannot be read, if it cannot.
        #[source]
        cause: Option<io::Error>,
    },
}
