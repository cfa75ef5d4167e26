// SPDX-License-Identifier: MIT OR Apache-2.0
//! How sure an answer is: the controllers about which more time or more seeds could say something else.

use tandem_scenario::units::Span;

use crate::{Answer, Judged, Why};

/// What keeps an answer from being clear: controllers, by name.
struct Doubts<'a> {
    /// There was no time to run them.
    not_run: Vec<&'a str>,
    /// Their runs were too short to tell their final goodput.
    unsteady: Vec<&'a str>,
    /// Their intervals are too wide.
    open: Vec<&'a str>,
}

impl Doubts<'_> {
    /// They concern a single controller, which was run.
    fn is_of_one(&self) -> bool {
        self.not_run.is_empty() && self.unsteady.len() + self.open.len() == 1
    }

    /// Are there none, and is there a verdict that they could be about?
    fn leave_it_clear(&self, why: Why) -> bool {
        why.is_verdict() && self.clauses(None).next().is_none()
    }

    /// In words. `over`: when the time was over, if it was.
    fn words(&self, why: Why, over: Option<&str>) -> String {
        let mut clauses: Vec<String> = self.clauses(over).collect();
        if self.leave_it_clear(why) {
            return "the intervals are narrow enough to decide".into();
        }
        if clauses.is_empty() {
            let what =
                if why == Why::NotSteady { "the reference was not steady" } else { "no other controller was run" };
            clauses.push(what.into());
        }
        let is_of_one = why.is_verdict() && self.is_of_one();
        let begin = if is_of_one { "clear except that " } else { "not sure: " };
        format!("{begin}{}", clauses.join("; "))
    }

    fn clauses(&self, over: Option<&str>) -> impl Iterator<Item = String> {
        let in_runs = over.unwrap_or("in the longest runs allowed");
        let with_seeds = over.unwrap_or("with the seeds allowed");
        let not_run = who(&self.not_run).map(|(who, were)| format!("{who} {were} not run"));
        let unsteady = who(&self.unsteady).map(|(who, were)| format!("{who} {were} not steady {in_runs}"));
        let open = who(&self.open).map(|(who, _)| format!("the intervals of {who} are too wide {with_seeds}"));
        [not_run, unsteady, open].into_iter().flatten()
    }
}

/// The only one's name, or how many there are; and the verb to it.
fn who(names: &[&str]) -> Option<(String, &'static str)> {
    match names {
        [] => None,
        [one] => Some((format!("`{one}`"), "was")),
        _ => Some((format!("{} controllers", names.len()), "were")),
    }
}

impl Answer {
    fn doubts(&self) -> Doubts<'_> {
        let names = |is: fn(&Judged) -> bool| -> Vec<&str> {
            self.decision.controllers.iter().filter(|judged| is(judged)).map(|judged| &*judged.controller).collect()
        };
        Doubts {
            not_run: self.not_run.iter().map(String::as_str).collect(),
            unsteady: names(|judged| !judged.is_steady),
            open: names(|judged| judged.is_open),
        }
    }

    /// Is there a verdict that neither more time nor more seeds could change?
    pub fn is_clear(&self) -> bool {
        self.doubts().leave_it_clear(self.decision.why)
    }

    /// The same with the reasons, in words. `time` is what the question was given for all of its paths.
    pub fn sureness(&self, time: Span) -> String {
        let over = self.is_cut_short.then(|| format!("when {time} were over"));
        self.doubts().words(self.decision.why, over.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_doubt_is_named() {
        let none = || Doubts { not_run: vec![], unsteady: vec![], open: vec![] };
        let better = |doubts: &Doubts| doubts.words(Why::Better, None);
        assert!(none().leave_it_clear(Why::Better));
        assert_eq!(better(&none()), "the intervals are narrow enough to decide");

        let unsteady = Doubts { unsteady: vec!["bbr"], ..none() };
        assert!(!unsteady.leave_it_clear(Why::Better));
        assert_eq!(better(&unsteady), "clear except that `bbr` was not steady in the longest runs allowed");
        let open = Doubts { open: vec!["bbr"], ..none() };
        assert_eq!(better(&open), "clear except that the intervals of `bbr` are too wide with the seeds allowed");
        assert_eq!(better(&Doubts { not_run: vec!["bbr"], ..none() }), "not sure: `bbr` was not run");

        let all = Doubts { not_run: vec!["a", "b", "c"], unsteady: vec!["d"], open: vec!["e", "f"] };
        let over = "when 2min were over";
        assert_eq!(
            all.words(Why::DefaultIsAsGood, Some(over)),
            format!(
                "not sure: 3 controllers were not run; `d` was not steady {over}; the intervals of 2 controllers are too wide {over}"
            )
        );
    }

    #[test]
    fn where_there_is_no_verdict_nothing_is_clear() {
        let none = Doubts { not_run: vec![], unsteady: vec![], open: vec![] };
        for (why, words) in [
            (Why::NothingElseRan, "not sure: no other controller was run"),
            (Why::NotSteady, "not sure: the reference was not steady"),
        ] {
            assert!(!none.leave_it_clear(why));
            assert_eq!(none.words(why, None), words);
        }
        let default = Doubts { unsteady: vec!["cubic"], ..none };
        assert!(default.words(Why::NotSteady, None).starts_with("not sure: `cubic` was not steady"));
    }
}
