// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/advise-vs-experts.md: what `tandem advise` says of ten realistic paths, beside what people who run such paths say.

mod ask;
mod paths;

use std::{fmt::Write, fs, path::Path};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tandem_batch::Batch;
use tandem_report::write_atomically;

use ask::ask;
use paths::{Expert, PATHS};

/// What was answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Said {
    /// Of the path, as options.
    options: String,
    /// What comes before any controller.
    first: Vec<String>,
    advised: String,
    /// In the spelling of `results.json`.
    why: String,
    goodput_mbps: f64,
    default_mbps: f64,
    stolen_percent: Option<f64>,
    delay_ms: f64,
}

/// Asks for the paths that `kept` lacks, or all anew, writes them there, and returns the page.
///
/// # Errors
/// If `kept` cannot be read or written, or a run fails.
pub fn experts_page(kept: &Path, again: bool, batch: &Batch) -> anyhow::Result<String> {
    let mut all = if again { Vec::new() } else { read(kept)? };
    for expert in &PATHS {
        if all.iter().any(|said| said.options == expert.options) {
            continue;
        }
        let said = ask(expert.options, batch).with_context(|| expert.options.to_owned())?;
        eprintln!("{}: {}", expert.path, said.advised);
        all.push(said);
        let lines =
            all.iter().map(|said| Ok(serde_json::to_string(said)? + "\n")).collect::<anyhow::Result<String>>()?;
        write_atomically(kept, lines.as_bytes())?;
    }
    page(&all)
}

fn read(kept: &Path) -> anyhow::Result<Vec<Said>> {
    let text = match fs::read_to_string(kept) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.with_context(|| format!("cannot read `{}`", kept.display()))?,
    };
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// What an expert would object to; nothing if all is well.
fn objection(expert: &Expert, said: &Said) -> Option<String> {
    if !expert.accepts.contains(&&*said.advised) {
        return Some(format!("`{}` is none of those", said.advised));
    }
    let is_said = |part: &&str| said.first.iter().any(|first| first.contains(*part));
    let unsaid = expert.first.iter().find(|part| !is_said(part));
    unsaid.map(|part| format!("\"{part}\" is not said"))
}

fn page(all: &[Said]) -> anyhow::Result<String> {
    let mut table = String::new();
    let mut objections = 0;
    for expert in &PATHS {
        let said = all.iter().find(|said| said.options == expert.options);
        let said = said.with_context(|| format!("nothing was said of {}", expert.path))?;
        let objection = objection(expert, said);
        objections += usize::from(objection.is_some());
        writeln!(table, "\n## {}\n\n```\ntandem advise {}\n```\n", expert.path, expert.options)?;
        writeln!(table, "- **Experts:** {}", expert.says)?;
        writeln!(table, "- **Tandem:** {}", answer(said))?;
        said.first.iter().try_for_each(|first| writeln!(table, "  - {}", wrapped(&with_code(first), 4)))?;
        objection.iter().try_for_each(|objection| writeln!(table, "- **An objection:** {objection}"))?;
    }
    Ok(format!("**Experts would not object on {} of {} paths.**\n{table}", PATHS.len() - objections, PATHS.len()))
}

/// A cure's words with its commands and settings as code. A command ends with its part of the sentence.
fn with_code(text: &str) -> String {
    let Some((words, rest)) = text.split_once("sudo ") else {
        let word = |word: &str| if word.starts_with("net.") { format!("`{word}`") } else { word.to_owned() };
        return text.split(' ').map(word).collect::<Vec<_>>().join(" ");
    };
    let ends = [rest.find(';'), rest.find(". ")];
    let end = ends.into_iter().flatten().min().unwrap_or(rest.trim_end_matches('.').len());
    format!("{}`sudo {}`{}", with_code(words), &rest[..end], with_code(&rest[end..]))
}

/// Columns of a page's lines.
const COLUMNS: usize = 150;

fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && line.chars().count() + word.chars().count() >= COLUMNS - indent {
            lines.push(word.to_owned());
        } else {
            let space = if line.is_empty() { "" } else { " " };
            *line += &format!("{space}{word}");
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

fn answer(said: &Said) -> String {
    let stolen =
        said.stolen_percent.map_or_else(String::new, |percent| format!(", takes {percent:.1} % from neighbours"));
    let default = match said.why.as_str() {
        "default-is-as-good" => String::new(),
        _ => format!(" (`cubic`: {})", Short(said.default_mbps)),
    };
    wrapped(
        &format!(
            "`{}`; {} Mb/s{default}{stolen}, {} ms in the queue",
            said.advised,
            Short(said.goodput_mbps),
            Short(said.delay_ms)
        ),
        2,
    )
}

/// A number in three digits.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&tandem_report::significant(self.0, 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::assert_has;

    fn repository() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn the_page_has_what_was_answered_and_no_expert_objects() {
        let all = read(&repository().join("experiments/advice/experts.jsonl")).unwrap();
        assert_eq!(all.len(), PATHS.len());
        for expert in &PATHS {
            let said = all.iter().find(|said| said.options == expert.options).unwrap();
            assert_eq!(objection(expert, said), None, "{}", expert.path);
        }
        assert_has("docs/advise-vs-experts.md", &page(&all).unwrap());
    }

    #[test]
    fn another_controller_and_a_cure_that_is_not_said_are_objections() {
        let expert = Expert { path: "", options: "", says: "", accepts: &["bbr"], first: &["tcp_wmem"] };
        let said = |advised: &str, first: &str| Said {
            options: String::new(),
            first: vec![first.to_owned()],
            advised: advised.to_owned(),
            why: "better".to_owned(),
            goodput_mbps: 1.0,
            default_mbps: 1.0,
            stolen_percent: None,
            delay_ms: 1.0,
        };
        assert_eq!(objection(&expert, &said("bbr", "net.ipv4.tcp_wmem allows")), None);
        assert!(objection(&expert, &said("yeah", "net.ipv4.tcp_wmem")).unwrap().contains("`yeah` is none"));
        assert!(objection(&expert, &said("bbr", "")).unwrap().contains("\"tcp_wmem\" is not said"));
    }
}
