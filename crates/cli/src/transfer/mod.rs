// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem receive` and `tandem send`: files over QUIC.

mod progress;
mod receive;
mod send;
mod ticket;

use std::future::Future;

use anyhow::Context;
use tandem_controllers::find;
use tandem_scenario::{CongestionControl, ControllerSpec, Settings};
use tandem_transfer::{Error, Summary, Transport};

use crate::failure::Failure;

pub use receive::{Args as ReceiveArgs, receive};
pub use send::{Args as SendArgs, send};

/// A connection with this controller; without one, `compound_tube`.
fn transport(controller: Option<&ControllerSpec>, own_cubic: bool) -> Result<Transport, Failure> {
    if own_cubic {
        return Ok(Transport::default());
    }
    let usual = ControllerSpec::tandem(find("compound_tube").map_err(Failure::usage)?);
    match controller.unwrap_or(&usual).with(&Settings::default()) {
        CongestionControl::Tandem(params) => {
            tandem_quic::Factory::new((*params).clone(), tandem_quic::Options::default()).map_err(Failure::usage)?;
            Ok(Transport { controller: Some((*params).clone()), ..Transport::default() })
        }
        other => {
            let whose = other.foreign().unwrap_or_default();
            Err(Failure::usage(format!("`{other}` is {whose}: name one of `tandem list controllers`")))
        }
    }
}

/// What a transfer has come to, in a line.
fn summary(verb: &str, summary: &Summary, seconds: f64) -> String {
    let Summary { files, unchanged, bytes } = *summary;
    let mbps = bytes as f64 * 8.0 / 1e6 / seconds.max(1e-6);
    let there = if unchanged > 0 { format!(" ({unchanged} of them were there)") } else { String::new() };
    let what = if files > 0 { format!("{files} file(s){there}, ") } else { String::new() };
    format!("{verb} {what}{bytes} bytes in {seconds:.1} s: {mbps:.1} Mb/s")
}

/// Runs it until it is done or the user interrupts it.
///
/// One thread serves the network; files have threads of their own. Between threads each datagram would cost a wake-up, and the time that
/// it takes looks to a delay-based window like a queue.
fn run<T, E: Into<Failure>>(work: impl Future<Output = Result<T, E>>) -> Result<T, Failure> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime for the network")?;
    let flag = crate::interrupt::flag();
    let result = runtime.block_on(async {
        let interrupted = async {
            while !flag.load(std::sync::atomic::Ordering::Relaxed) {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            result = work => result.map_err(Into::into),
            () = interrupted => Err(Failure::Interrupted),
        }
    });
    // Not for a thread that hashes a large file: after an interrupt nobody wants that.
    runtime.shutdown_background();
    result
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Failed(error.into())
    }
}
