// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names what decides this engine's results.

fn main() {
    tandem_arithmetic::emit(env!("CARGO_PKG_NAME"));
}
