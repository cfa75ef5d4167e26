// SPDX-License-Identifier: MIT OR Apache-2.0
//! A find as a scenario file that anybody can run, with a comment on what happens.

use toml::Value;

use crate::{
    judge::Side,
    question::Question,
    settle::{Find, NEIGHBOURS, SEEDS},
    space::Space,
};

/// Who was compared, and in what.
#[derive(Clone, Copy)]
pub struct Compared<'a> {
    /// The controller.
    pub contender: Side<'a>,
    /// What it was compared with.
    pub baseline: Side<'a>,
    /// In what.
    pub question: &'a Question,
}

impl Compared<'_> {
    /// Whether engines are compared and not controllers.
    pub fn is_of_engines(&self) -> bool {
        self.contender.engine.name() != self.baseline.engine.name()
    }

    /// One of the two, as people read it.
    pub fn name(&self, side: Side) -> String {
        let engine = if self.is_of_engines() { format!(" in `{}`", side.engine.name()) } else { String::new() };
        format!("`{}`{engine}", side.controller)
    }

    /// What happens at a find, in sentences.
    pub fn words(&self, find: &Find) -> Vec<String> {
        let (worst, measured) = (&self.question.worst, &find.judged.measured);
        let figure = |values: &[f64]| {
            let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
            let mean = worst.number(tandem_statistics::mean(values));
            (worst.words(&mean), format!("{} to {}", worst.number(low), worst.number(high)))
        };
        let ((own, own_range), (baseline, baseline_range)) = (figure(&measured.own), figure(&measured.baseline));
        let minimal = if find.is_minimal {
            "Nothing can be left out, shortened or rounded without losing it"
        } else {
            "Time ran out before it was fully reduced"
        };
        vec![
            format!("With {}: {own} ({own_range} over {SEEDS} seeds).", self.name(self.contender)),
            format!("With {} in its place: {baseline} ({baseline_range}).", self.name(self.baseline)),
            format!("{:.1} % {}.", 100.0 * find.mean, worst.unit()),
            format!("What its flows show: {}.", find.judged.mechanism.words()),
            format!("{} of {NEIGHBOURS} points around it also fail. {minimal}.", find.neighbours),
        ]
    }

    /// The scenario with the contender, `None` if the point cannot be run; `command` is that which found it.
    pub fn scenario_file(&self, space: &Space, find: &Find, name: &str, command: &str) -> Option<String> {
        let mut table = space.table(&find.point, self.contender.controller)?;
        table.insert("name".into(), Value::String(name.into()));
        table.insert("seeds".into(), Value::Integer(SEEDS as i64));
        let words = self.words(find).into_iter().map(|line| format!("# {line}\n")).collect::<String>();
        let scenario = toml::to_string(&table).ok()?;
        Some(format!("# Found by: {}\n{words}\n{scenario}", command.replace(char::is_control, " ")))
    }
}
