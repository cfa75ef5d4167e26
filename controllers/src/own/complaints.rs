// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a C compiler says, cut to what is about the user's files.

use super::compiler::Workshop;

/// This many messages are shown: the first is the cause of most others.
const MOST: usize = 5;

/// A message of gcc or clang: `FILE:LINE:COLUMN: KIND: TEXT`.
struct Message<'a> {
    place: &'a str,
    kind: &'static str,
    text: &'a str,
}

const KINDS: [&str; 4] = ["fatal error", "error", "warning", "note"];

fn message(line: &str) -> Option<Message<'_>> {
    let of_kind = |kind: &'static str| {
        let mark = format!(": {kind}: ");
        line.find(&mark).map(|at| (at, Message { place: &line[..at], kind, text: &line[at + mark.len()..] }))
    };
    KINDS.into_iter().filter_map(of_kind).min_by_key(|(at, _)| *at).map(|(_, message)| message)
}

struct Said<'a> {
    workshop: &'a Workshop<'a>,
    messages: Vec<Message<'a>>,
}

impl<'a> Said<'a> {
    fn new(workshop: &'a Workshop, text: &'a str) -> Self {
        Self { workshop, messages: text.lines().filter_map(message).collect() }
    }

    /// Is the place in a file of the user's?
    fn is_users(&self, message: &Message) -> bool {
        message.place.starts_with(&self.workshop.header().folder_prefix())
    }

    /// Those of these kinds, in the user's files or not, as the user knows the files.
    fn shown(&self, kinds: &[&str], users: bool) -> Vec<String> {
        let wanted = |m: &&Message| kinds.contains(&m.kind) && self.is_users(m) == users;
        self.messages.iter().filter(wanted).take(MOST).map(|m| self.as_line(m)).collect()
    }

    fn as_line(&self, message: &Message) -> String {
        let header = self.workshop.header();
        let (place, text) = (message.place, self.workshop.without_folder(message.text));
        match place.strip_prefix(&header.folder_prefix()) {
            Some(file) => format!("  {}{file}: {text}", header.shown_prefix()),
            None => format!("  Tandem's {}: {text}", self.workshop.without_folder(place)),
        }
    }
}

impl Workshop<'_> {
    fn without_folder(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder().display()), "")
    }
}

/// The errors in the user's files. If they show in ours alone, those, and where the user's have to do with them.
pub fn errors(workshop: &Workshop, stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let said = Said::new(workshop, &text);
    let mut lines = said.shown(&["fatal error", "error"], true);
    if lines.is_empty() {
        lines = said.shown(&["note", "warning"], true);
        lines.extend(said.shown(&["fatal error", "error"], false));
    }
    if lines.is_empty() {
        lines = text.lines().take(MOST).map(|line| format!("  {}", workshop.without_folder(line))).collect();
    }
    lines.join("\n")
}

/// The warnings in the user's files; `None` if there are none.
pub fn warnings(workshop: &Workshop, stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    Some(Said::new(workshop, &text).shown(&["warning"], true))
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines.join("\n"))
}
