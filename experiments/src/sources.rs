// SPDX-License-Identifier: MIT OR Apache-2.0
//! The texts of an experiment, its own file and its paper's, put together as one document. Places count through both texts, so that
//! each error names its own file. experiments/README.md describes the rules.

use std::{borrow::Cow, ops::Range};

use tandem_scenario::FileError;
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue},
};

use crate::patch::Problem;

/// The name, without its extension, of the file that has what those beside it share.
pub const PAPER: &str = "paper";

/// A file's text, with its path for messages.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// As errors name the file.
    pub path: &'a str,
    /// TOML.
    pub text: &'a str,
}

#[derive(Debug, Clone)]
pub(crate) struct Sources {
    path: String,
    text: String,
    /// The text follows as many spaces as bring it behind the other text.
    paper: Option<(String, String)>,
}

/// The names of the figures in a file; `None` if it is one figure itself.
pub(crate) fn figures(text: &str) -> Result<Option<Vec<String>>, Problem> {
    let document = parse(text)?;
    let Some(figures) = document.get_ref().get("figures") else { return Ok(None) };
    match figures.get_ref() {
        DeValue::Table(table) if !table.is_empty() => Ok(Some(table.keys().map(|key| key.to_string()).collect())),
        _ => Err((figures.span(), "figures are tables with names, such as [figures.delay]".into())),
    }
}

/// A figure's id, from its file's id: `s4/queue-jain` from `s4/queue`.
pub(crate) fn id_of(file: &str, figure: &str) -> String {
    file.rsplit_once('/').map_or_else(|| figure.to_owned(), |(folder, _)| format!("{folder}/{figure}"))
}

fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, Problem> {
    DeTable::parse(text).map_err(|e| (e.span().unwrap_or_default(), e.message().to_owned()))
}

impl Sources {
    pub fn new(own: Source, paper: Option<Source>) -> Self {
        let start = own.text.len() + 1;
        let paper = paper.map(|paper| (paper.path.to_owned(), " ".repeat(start) + paper.text));
        Self { path: own.path.to_owned(), text: own.text.to_owned(), paper }
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn error(&self, span: Range<usize>, message: String) -> FileError {
        let start = self.text.len() + 1;
        let (path, text, start) = match &self.paper {
            Some((path, text)) if span.start >= start => (path, &text[start..], start),
            _ => (&self.path, &*self.text, 0),
        };
        let span = (!span.is_empty()).then(|| span.start - start..span.end - start);
        FileError::new(path, text, span, message)
    }

    /// A figure of the file, or the file as a figure.
    pub fn document(&self, figure: Option<&str>) -> Result<Spanned<DeTable<'_>>, Problem> {
        let mut document = parse(&self.text)?;
        let own = document.get_mut();
        if let (Some(figure), Some(figures)) = (figure, own.remove("figures")) {
            let place = figures.span();
            let DeValue::Table(mut figures) = figures.into_inner() else { return Err((place, "no table".into())) };
            let of_figure = figures.remove(figure).map(Spanned::into_inner);
            let Some(DeValue::Table(mut of_figure)) = of_figure else {
                return Err((place, format!("`{figure}` is no table")));
            };
            inherit(&mut of_figure, own);
            *own = of_figure;
        }
        let mut parts = None;
        if let Some((_, text)) = &self.paper {
            let mut paper = parse(text)?.into_inner();
            paper.remove("cite");
            parts = paper.remove("parts");
            inherit(own, &paper);
        }
        own.iter_mut().try_for_each(|(_, value)| fill(value, parts.as_ref()))?;
        own.get_mut("claims").map_or(Ok(()), spread)?;
        Ok(document)
    }
}

/// Adds the defaults that the file does not set itself, key by key.
fn inherit<'i>(own: &mut DeTable<'i>, defaults: &DeTable<'i>) {
    for (key, default) in defaults {
        match (own.get_mut(&**key.get_ref()).map(Spanned::get_mut), default.get_ref()) {
            (None, _) => _ = own.insert(key.clone(), default.clone()),
            (Some(DeValue::Table(own)), DeValue::Table(defaults)) => inherit(own, defaults),
            _ => {}
        }
    }
}

/// Puts a part of the paper's file in where `use` names it, and the part that this one uses.
fn fill<'i>(value: &mut Spanned<DeValue<'i>>, parts: Option<&Spanned<DeValue<'i>>>) -> Result<(), Problem> {
    let table = match value.get_mut() {
        DeValue::Array(array) => return array.iter_mut().try_for_each(|item| fill(item, parts)),
        DeValue::Table(table) => table,
        _ => return Ok(()),
    };
    table.iter_mut().try_for_each(|(_, inner)| fill(inner, parts))?;
    let mut left = parts.and_then(|parts| parts.get_ref().as_table()).map_or(1, DeTable::len);
    while let Some(name) = table.remove("use") {
        let part = part(&name, parts)?;
        match part.get_ref() {
            _ if left == 0 => return Err((name.span(), "parts use each other in a circle".into())),
            DeValue::Table(defaults) => inherit(table, defaults),
            whole if table.is_empty() => {
                *value.get_mut() = whole.clone();
                return Ok(());
            }
            _ => return Err((name.span(), "this part is no table, so no other key can stand beside `use`".into())),
        }
        left -= 1;
    }
    Ok(())
}

fn part<'p, 'i>(
    name: &Spanned<DeValue>,
    parts: Option<&'p Spanned<DeValue<'i>>>,
) -> Result<&'p Spanned<DeValue<'i>>, Problem> {
    let problem = |message: String| (name.span(), message);
    let text = name.get_ref().as_str().ok_or_else(|| problem("`use` is the name of a part, a text".into()))?;
    let parts = parts.and_then(|parts| parts.get_ref().as_table());
    let parts = parts.ok_or_else(|| problem(format!("there is no {PAPER}.toml with [parts] beside this file")))?;
    parts.get(text).ok_or_else(|| {
        let known: Vec<&str> = parts.keys().map(|key| &**key.get_ref()).collect();
        problem(format!("{PAPER}.toml has no part `{text}`; it has `{}`", known.join("`, `")))
    })
}

/// One claim for each curve, where one names several.
fn spread(claims: &mut Spanned<DeValue>) -> Result<(), Problem> {
    let DeValue::Array(array) = claims.get_mut() else { return Ok(()) };
    let mut all = DeArray::new();
    for claim in std::mem::replace(array, DeArray::new()) {
        match claim.get_ref().get("curve").map(Spanned::get_ref) {
            Some(DeValue::Array(curves)) => {
                for curve in curves {
                    all.push(about(&claim, curve)?);
                }
            }
            _ => all.push(claim),
        }
    }
    *array = all;
    Ok(())
}

/// The claim about this curve: `{curve}` in its words is the curve's name.
fn about<'i>(claim: &Spanned<DeValue<'i>>, curve: &Spanned<DeValue<'i>>) -> Result<Spanned<DeValue<'i>>, Problem> {
    let name = curve.get_ref().as_str().ok_or_else(|| (curve.span(), "a curve is named by a text".to_owned()))?;
    let mut claim = claim.clone();
    if let DeValue::Table(table) = claim.get_mut() {
        for key in ["text", "found"] {
            if let Some(DeValue::String(words)) = table.get_mut(key).map(Spanned::get_mut) {
                *words = Cow::Owned(words.replace("{curve}", name));
            }
        }
        if let Some(of) = table.get_mut("curve") {
            *of = curve.clone();
        }
    }
    Ok(claim)
}
