// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text as programs write it: UTF-8, or UTF-16 as PowerShell's `>` does.

/// What is no character of its encoding becomes U+FFFD.
pub fn decoded(bytes: &[u8]) -> String {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // Without a mark: a letter of ASCII has a zero beside it.
        [first, 0, ..] if *first != 0 => utf16(bytes, u16::from_le_bytes),
        [0, second, ..] if *second != 0 => utf16(bytes, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned(),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes.as_chunks().0.iter().map(|&pair| unit(pair)).collect();
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_encodings_of_a_text() {
        let le: Vec<u8> = "ping ü".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = "ping ü".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = |mark: &[u8], text: &[u8]| decoded(&[mark, text].concat());
        let all = [
            decoded("ping ü".as_bytes()),
            marked(b"\xef\xbb\xbf", "ping ü".as_bytes()),
            marked(&[0xff, 0xfe], &le),
            marked(&[0xfe, 0xff], &be),
            decoded(&le),
            decoded(&be),
        ];
        assert!(all.iter().all(|text| text == "ping ü"), "{all:?}");
        assert_eq!((decoded(b""), decoded(b"\xff")), (String::new(), "\u{fffd}".to_owned()));
    }
}
