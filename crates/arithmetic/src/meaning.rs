// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a Rust source compiles to, as far as its words tell: without comments, layout, and what only tests see.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The tokens that decide results. Of what is no Rust, all bytes.
pub fn meaning(content: &[u8]) -> Vec<u8> {
    let tokens = str::from_utf8(content).ok().and_then(|text| TokenStream::from_str(text).ok());
    tokens.map_or_else(|| content.to_vec(), |tokens| without_tests(tokens).to_string().into_bytes())
}

/// Also without documentation, which is an attribute.
fn without_tests(tokens: TokenStream) -> TokenStream {
    let mut kept = TokenStream::new();
    let mut left = tokens.into_iter().peekable();
    while let Some(token) = left.next() {
        if is(&token, '#') {
            let bang = left.next_if(|next| is(next, '!'));
            let attribute = left.next();
            let text = attribute.as_ref().map(TokenTree::to_string).unwrap_or_default().replace(' ', "");
            if text == "[cfg(test)]" {
                // An item ends with a brace or a semicolon, a field with a comma. What is kept too long does no harm.
                let is_end = |token: &TokenTree| is_braced(token) || is(token, ';') || is(token, ',');
                while left.next().is_some_and(|token| !is_end(&token)) {}
            } else if !text.starts_with("[doc=") {
                kept.extend([Some(token), bang, attribute].into_iter().flatten());
            }
            continue;
        }
        kept.extend([match token {
            TokenTree::Group(group) => Group::new(group.delimiter(), without_tests(group.stream())).into(),
            other => other,
        }]);
    }
    kept
}

fn is(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

fn is_braced(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "//! A queue.\npub struct Queue { packets: u32 }\nimpl Queue {\n    fn push(&mut self) { self.packets += 1; }\n}\n";

    fn same(a: &str, b: &str) -> bool {
        meaning(a.as_bytes()) == meaning(b.as_bytes())
    }

    #[test]
    fn comments_layout_and_tests_mean_nothing() {
        for (from, to) in [
            ("//! A queue.", "//! A line.\n#![doc = \"Of packets.\"]\n"),
            ("pub struct", "/// What waits.\n#[cfg(test)]\nuse std::fs;\npub struct"),
            ("    fn push", "/* Behind all others. */ fn push"),
            ("}\n}\n", "}\n}\n\n#[cfg(test)]\nmod tests { fn any() { panic!(); } }\n"),
        ] {
            let changed = SOURCE.replacen(from, to, 1);
            assert!(changed != SOURCE && same(&changed, SOURCE), "{changed}");
        }
    }

    #[test]
    fn all_else_means_something() {
        for (from, to) in [
            ("+= 1", "+= 2"),
            ("pub struct", "#[repr(C)]\npub struct"),
            ("pub struct", "#[cfg(unix)]\npub struct"),
            ("pub struct", "#[cfg(test)]\nuse std::fs;\nconst LEAST: u32 = 1;\npub struct"),
            ("self.packets += 1;", "#[cfg(test)] let seen = 1; self.packets += 1; self.packets += 1;"),
        ] {
            let changed = SOURCE.replacen(from, to, 1);
            assert!(changed != SOURCE && !same(&changed, SOURCE), "{changed}");
        }
        // A string is no comment.
        assert!(!same("const A: &str = \"// 1\";", "const A: &str = \"// 2\";"));
    }

    #[test]
    fn of_what_is_no_rust_every_byte_counts() {
        assert_eq!(meaning(b"} // an end"), b"} // an end");
        assert_eq!(meaning(&[0xff, b'a']), [0xff, b'a']);
    }
}
