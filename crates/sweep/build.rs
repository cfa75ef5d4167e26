// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names what decides the columns that are made of a result.

fn main() {
    tandem_arithmetic::emit("tandem-tables");
}
