// SPDX-License-Identifier: MIT OR Apache-2.0
//! Golden traces: short stories of a connection whose numbers were worked out by hand, and the host that plays them.
//! `controllers/vectors/README.md` has the format.

mod format;
mod host;

use std::path::Path;

pub use format::{Command, Expected, LineError, Rate, parse};
pub use host::{Host, PlayError};
use tandem_controllers::Instance;

/// What came of a golden trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// How many stories it told.
    pub stories: usize,
    /// How many lines said what to expect.
    pub checks: usize,
    /// Lines, from 1, that did not come out, and how.
    pub problems: Vec<(usize, String)>,
}

/// Why a golden trace cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TraceError {
    /// From 1; 0 if there is none.
    pub line: usize,
    /// What is wrong with it.
    pub why: Unplayable,
}

/// What is wrong with a line of a golden trace that cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unplayable {
    /// It cannot be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// Its controller cannot be had, without which nothing can be played.
    #[error(transparent)]
    Story(#[from] PlayError),
    /// It is the last, and expects nothing.
    #[error("the last line must be an `expect`: what is not checked shows nothing")]
    Unchecked,
}

/// Plays a golden trace. The headers of controllers that it names by paths are relative to `folder`.
///
/// # Errors
/// The first line that cannot be read, or whose controller cannot be had, and what is wrong with it.
pub fn play(text: &str, folder: &Path) -> Result<Played, TraceError> {
    let (mut host, mut played) = (Host::<Instance>::beside(folder), Played::default());
    let mut is_checked = true;
    for (i, line) in text.lines().enumerate() {
        let line_number = i + 1;
        let wrong = |why: Unplayable| TraceError { line: line_number, why };
        let Some(command) = parse(line).map_err(|e| wrong(e.into()))? else { continue };
        is_checked = matches!(command, Command::Expect(_));
        played.checks += usize::from(is_checked);
        let is_story = matches!(command, Command::Controller(_));
        played.stories += usize::from(is_story);
        match host.play(&command) {
            // Nothing can be played without its controller.
            Err(problem) if is_story => return Err(wrong(problem.into())),
            Err(problem) => played.problems.push((line_number, problem.to_string())),
            Ok(()) => {}
        }
    }
    if !is_checked || played.checks == 0 {
        return Err(TraceError { line: text.lines().count(), why: Unplayable::Unchecked });
    }
    Ok(played)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Played, TraceError> {
        play(text, Path::new(""))
    }

    /// RFC 5681, 3.1: slow start adds a packet for each packet acknowledged.
    #[test]
    fn what_comes_out_is_told_by_line() {
        let story = "controller reno\nconn cwnd=10 flight=10\nack 2 rtt=100000\nexpect cwnd=12 # 10 + 2\n";
        assert_eq!(of(story), Ok(Played { stories: 1, checks: 1, problems: vec![] }));
        let wrong = of(&story.replace("cwnd=12", "cwnd=13 loss=12")).unwrap();
        assert_eq!(wrong.problems, [(4, "cwnd is 12".to_owned())]);
    }

    #[test]
    fn what_cannot_be_played_is_refused_with_its_line() {
        for (text, line, why) in [
            ("controller none\nexpect cwnd=1", 1, "`none`"),
            ("controller reno\nconn cwnd=0\nexpect cwnd=1", 2, "`cwnd` must be 1 or more"),
            ("controller reno\nconn cwnd=2 mss=0\nexpect cwnd=1", 2, "`mss` must be 1 or more"),
            ("controller reno\nconn cwnd=2\nround rtt=1 by=0\nexpect cwnd=1", 3, "`by` must be 1 or more"),
            ("controller reno\nfrobnicate", 2, "`frobnicate` is not a command"),
            ("controller reno\nconn cwnd=2\n", 2, "must be an `expect`"),
            ("", 0, "must be an `expect`"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.line == line && error.why.to_string().contains(why), "{text}: {error}");
        }
        // What comes too early or too often is a problem of its line.
        let early = of("controller reno\nloss\nconn cwnd=2 flight=2\nack 3 rtt=1\nexpect cwnd=2").unwrap();
        assert_eq!(
            early.problems,
            [(2, "`conn` is missing".into()), (4, "3 packets acknowledged, 2 in flight".into())]
        );
    }
}
