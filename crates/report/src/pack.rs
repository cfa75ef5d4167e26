// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compresses data that a page unpacks: much smaller, and still text. `build.rs` uses it, too.

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::DeflateEncoder};

/// Compressed (DEFLATE, RFC 1951), in Base64. Bytes in fewer characters would need an encoding of the page that no server's header
/// contradicts. The best compression takes four times as long for one percent less.
pub fn pack(text: &str) -> String {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).expect("a vector takes all");
    STANDARD.encode(packed.finish().expect("a vector takes all"))
}
