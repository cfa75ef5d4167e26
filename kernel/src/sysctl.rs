// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sysctls of congestion control, which belong to the network namespace of the calling thread.

use std::{fs, io};

use crate::Error;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// `net.ipv4.tcp_available_congestion_control`: each name that a socket can ask for.
///
/// # Errors
/// If the setting cannot be read.
pub fn available() -> Result<Vec<String>, Error> {
    names_in(AVAILABLE)
}

/// `net.ipv4.tcp_allowed_congestion_control`: each name that programs without rights, and other network namespaces, can choose.
pub(crate) fn allowed() -> Result<Vec<String>, Error> {
    names_in(ALLOWED)
}

fn names_in(file: &str) -> Result<Vec<String>, Error> {
    let text = fs::read_to_string(file).map_err(|e| Error::io("read", file, e))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// `net.ipv4.tcp_congestion_control`: the controller of a socket that does not choose.
///
/// # Errors
/// If the setting cannot be read.
pub fn default_controller() -> Result<String, Error> {
    let text = fs::read_to_string(DEFAULT).map_err(|e| Error::io("read", DEFAULT, e))?;
    Ok(text.trim().to_owned())
}

/// # Errors
/// [`Error::NoRights`], also if `name` is not allowed and this is not the machine's first network namespace.
pub(crate) fn set_default(name: &str) -> Result<(), Error> {
    fs::write(DEFAULT, name).map_err(|e| match e.kind() {
        io::ErrorKind::PermissionDenied => Error::NoRights { what: "set net.ipv4.tcp_congestion_control" },
        _ => Error::io("write", DEFAULT, e),
    })
}
