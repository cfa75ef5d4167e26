// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of a file in whatever encoding a shell wrote it: PowerShell's `>` makes UTF-16 of what a program prints.

/// Number of bytes examined for zeros in every second place.
const LOOKED_AT_BYTES: usize = 1024;

/// Never fails: bytes that are not text become U+FFFD, and the readers go by numbers and shape.
pub fn text(bytes: &[u8]) -> String {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => without_mark(bytes),
    }
}

/// Only UTF-16 has zero bytes in text: one in every ASCII character.
fn without_mark(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(LOOKED_AT_BYTES)];
    let pairs = start.chunks_exact(2);
    let (count, first, second) = pairs.fold((0, 0, 0), |(count, first, second), pair| {
        (count + 1, first + usize::from(pair[0] == 0), second + usize::from(pair[1] == 0))
    });
    let is_most = |zeros: usize, others: usize| zeros > count / 2 && zeros > others;
    if is_most(second, first) {
        utf16(bytes, u16::from_le_bytes)
    } else if is_most(first, second) {
        utf16(bytes, u16::from_be_bytes)
    } else {
        String::from_utf8_lossy(bytes).into_owned()
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_tells_and_without_one_the_zeros() {
        let little: Vec<u8> = "Zeit=7ms\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "Zeit=7ms\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (mark, bytes) in
            [(&[0xff, 0xfe][..], &little), (&[0xfe, 0xff][..], &big), (&[][..], &little), (&[][..], &big)]
        {
            assert_eq!(text(&[mark, bytes].concat()), "Zeit=7ms\n");
        }
        assert_eq!(text(b"\xef\xbb\xbf{}"), "{}");
        // Neither a lone byte at the end nor a letter of an old code page stops it.
        assert_eq!(text(b"\xff\xfea\0b"), "a");
        assert_eq!(text(b"ausgef\x81hrt"), "ausgef\u{fffd}hrt");
        assert_eq!(text(b""), "");
    }
}
