// SPDX-License-Identifier: MIT OR Apache-2.0
//! A hash of a file's name and bytes, in the file itself. So a bit that flipped, an end that was cut off and a copy under another name are
//! noticed, wherever the file is carried. For readers of Parquet it is a line of the metadata, which they need not know.

use std::{ffi::OsStr, ops::Range};

use blake3::{Hash, Hasher};

/// The key of the line.
pub const KEY: &str = "tandem.seal";
const MARK: &str = "BLAKE3 of the file's name and of all other bytes: ";
const HEX: usize = 64;

/// The line, with room for the hash.
pub fn blank() -> String {
    format!("{MARK}{}", "0".repeat(HEX))
}

/// Puts the hash into the room for it.
pub fn seal(name: &OsStr, bytes: &mut [u8]) {
    if let Some(place) = place(bytes) {
        let hash = hash(name, bytes, &place);
        bytes[place].copy_from_slice(hash.to_hex().as_bytes());
    }
}

/// Are these the bytes that were sealed, under the name of then?
///
/// # Errors
/// What is wrong, if not.
pub fn check(name: &OsStr, bytes: &[u8]) -> Result<(), &'static str> {
    let place = place(bytes).ok_or("it has no checksum: it is damaged, or of another version of this program")?;
    // As text: the same number could be written otherwise.
    let is_whole = bytes[place.clone()] == *hash(name, bytes, &place).to_hex().as_bytes();
    is_whole.then_some(()).ok_or("its checksum differs: it is damaged, or a copy of a file of another name")
}

/// Where the hash stands. A file's metadata are at its end.
fn place(bytes: &[u8]) -> Option<Range<usize>> {
    let start = bytes.windows(MARK.len()).rposition(|window| window == MARK.as_bytes())? + MARK.len();
    (start + HEX <= bytes.len()).then_some(start..start + HEX)
}

fn hash(name: &OsStr, bytes: &[u8], place: &Range<usize>) -> Hash {
    let mut hasher = Hasher::new();
    // No name has a zero in it, so that nothing else reads the same.
    hasher.update(name.as_encoded_bytes()).update(&[0]);
    hasher.update(&bytes[..place.start]).update(&bytes[place.end..]).finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts_and_the_name_too() {
        let name = OsStr::new("a.parquet");
        let mut bytes = format!("rows{}end", blank()).into_bytes();
        seal(name, &mut bytes);
        assert_eq!(check(name, &bytes), Ok(()));
        assert!(check(OsStr::new("b.parquet"), &bytes).is_err());
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(check(name, &bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..bytes.len() {
            assert!(check(name, &bytes[..length]).is_err(), "the first {length} bytes");
        }
        assert!(check(name, b"rows and no seal").unwrap_err().contains("no checksum"));
    }
}
