// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compiled header's functions in this process.

use std::path::Path;

use libloading::Library;

use super::{OwnError, compiler::Compiled, registry::Header};
use crate::{Signal, ffi::RawController};

const SIGNALS: [Signal; 6] = [Signal::Loss, Signal::Delay, Signal::Both, Signal::Model, Signal::Marks, Signal::L4s];

/// What a library has of a controller.
pub struct Functions {
    pub raw: &'static RawController,
    pub signal: Signal,
}

/// Loads a library for as long as the process lives.
pub fn load(header: &Header, compiled: &Compiled) -> Result<Functions, OwnError> {
    let cannot = |e: libloading::Error| OwnError::CannotLoad { path: header.shown.clone(), cause: e.to_string() };
    // SAFETY: the user asked for this code by its path, and it has no initialisers but those that the header itself asks for.
    let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(&compiled.library) }.map_err(cannot)?));
    let symbol = format!("tandem_{}", header.name);
    // SAFETY: native.c, compiled into the library from the text that is part of this program, defines it as a constant of this type. The
    // library stays.
    let raw: &'static RawController =
        unsafe { &**library.get::<*const RawController>(symbol.as_bytes()).map_err(cannot)? };
    // SAFETY: the compiler's source defines it as a constant u32.
    let signal = unsafe { **library.get::<*const u32>(b"tandem_signal").map_err(cannot)? };
    let functions = Functions { raw, signal: SIGNALS[signal as usize % SIGNALS.len()] };
    check_parameters(header, raw)?;
    Ok(functions)
}

/// The tests see to it that ours are so.
fn check_parameters(header: &Header, raw: &'static RawController) -> Result<(), OwnError> {
    for parameter in raw.params() {
        let why = match (parameter.scale, parameter.min, parameter.initial, parameter.max) {
            _ if parameter.is_unreadable() => "is described in no UTF-8".to_owned(),
            (0, ..) => "has a scale of 0".to_owned(),
            (_, min, initial, max) if !(min..=max).contains(&initial) => {
                format!("has a default, {initial}, that is not within {min} to {max}")
            }
            _ => continue,
        };
        let name = if parameter.is_unreadable() { "?".to_owned() } else { parameter.name().to_owned() };
        return Err(OwnError::BadParameter { path: header.shown.clone(), name, why });
    }
    Ok(())
}

/// Bytes of a header's state, and the most that it may have.
pub fn sizes(library: &Path) -> Option<(u32, u32)> {
    // SAFETY: as in `load`.
    let library = unsafe { Library::new(library) }.ok()?;
    // SAFETY: the source of sizes.c defines both as constants u32; they are copied while the library is there.
    let number = |name: &[u8]| Some(unsafe { **library.get::<*const u32>(name).ok()? });
    Some((number(b"tandem_bytes")?, number(b"tandem_room")?))
}
