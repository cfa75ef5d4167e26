// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page of evidence. Its words are written by hand; the answer, one table and one picture between two marks are written here, and all
//! numbers go to a file of data.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::Serialize;
use tandem_papers::prose::with_short_lines;

use super::{compare::Tally, forest, table::Table};

const BEGIN: &str = "<!-- written by `make validate`: do not edit until the end mark -->";
const END: &str = "<!-- end of what `make validate` writes -->";

/// What a page rests on.
#[derive(Debug, Serialize)]
pub struct Evidence {
    /// Of the page's file and of the data's.
    #[serde(skip)]
    pub(super) name: &'static str,
    /// A sentence on the runs themselves, which only they know.
    pub(super) runs: String,
    pub(super) tables: Vec<Table>,
}

/// Where it goes.
pub struct Places {
    /// The page, in docs/.
    pub page: PathBuf,
    /// The folder of images beside the page.
    pub images: PathBuf,
    /// The folder of data.
    pub data: PathBuf,
}

impl Evidence {
    fn tally(&self) -> Tally {
        let all = self.tables.iter().map(Table::tally);
        all.fold(Tally::default(), |sum, one| Tally {
            agree: sum.agree + one.agree,
            open: sum.open + one.open,
            differ: sum.differ + one.differ,
        })
    }

    fn picture(&self) -> String {
        format!("{}-differences.svg", self.name)
    }

    /// All tables, for a terminal.
    pub fn text(&self) -> String {
        self.tables.iter().map(Table::text).collect()
    }

    /// What stands between the marks.
    fn block(&self, is_drawn: bool) -> String {
        let Tally { agree, open, differ } = self.tally();
        let asked = self.tally().asked();
        let mut text = format!(
            "**Of {asked} comparisons {agree} agree, {open} cannot be told apart and {differ} differ.** {}\n\n\
             | | bound | agree | cannot be told apart | differ |\n|---|---|---:|---:|---:|\n",
            self.runs
        );
        for table in self.tables.iter().filter(|table| table.tally().asked() > 0) {
            let Tally { agree, open, differ } = table.tally();
            writeln!(text, "| {} | {} | {agree} | {open} | {differ} |", table.title, table.asked).expect("a String");
        }
        if is_drawn {
            write!(
                text,
                "\n![Each difference with its interval, as a multiple of what is allowed](images/{})\n",
                self.picture()
            )
            .expect("a String");
        }
        let data = format!("experiments/validation/{}.json", self.name);
        write!(text, "\nAll numbers: [`{data}`](../{data}).\n").expect("a String");
        with_short_lines(&text)
    }

    /// Writes data and picture, and puts table and answer between the marks of the page.
    ///
    /// # Errors
    /// If a file cannot be written, or the page has no marks.
    pub fn write(&self, places: &Places) -> anyhow::Result<()> {
        let picture = forest::svg(&self.tables)?;
        let page = with_block(&places.page, &self.block(picture.is_some()))?;
        let data = serde_json::to_string_pretty(self)? + "\n";
        write(&places.data.join(format!("{}.json", self.name)), &data)?;
        if let Some(picture) = picture {
            write(&places.images.join(self.picture()), &picture)?;
        }
        write(&places.page, &page)
    }
}

/// Puts a text between the marks of a page whose words are written by hand.
///
/// # Errors
/// If the page cannot be read or written, or has no marks.
pub fn put(page: &Path, text: &str) -> anyhow::Result<()> {
    write(page, &with_block(page, text)?)
}

fn with_block(page: &Path, text: &str) -> anyhow::Result<String> {
    let words = std::fs::read_to_string(page)
        .with_context(|| format!("cannot read {}, whose words are written by hand", page.display()))?;
    between_marks(&words, text)
        .with_context(|| format!("{} lacks the line `{BEGIN}`, or `{END}` after it", page.display()))
}

/// The page with another text between the marks, or none if it lacks them.
fn between_marks(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{text}\n{END}{after}"))
}

pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().context("a file lies in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    tandem_report::write_atomically(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// A page of the repository has this text between its marks. UPDATE_DOCS=1 puts it there.
#[cfg(test)]
pub(crate) fn assert_has(page: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        put(&file, text).expect("written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{page}: {e}"));
    let due = between_marks(&found, text).unwrap_or_else(|| panic!("{page} lacks its marks"));
    assert!(due == found, "{page} is not that of its data: write it again with UPDATE_DOCS=1");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::example;

    #[test]
    fn the_words_of_a_page_stay_and_its_table_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("page.md");
        std::fs::write(&page, format!("# Title\n\nWords.\n\n{BEGIN}\nold\n{END}\n\n## Why\n")).expect("written");
        let places =
            Places { page: page.clone(), images: folder.path().join("images"), data: folder.path().join("data") };
        let evidence = Evidence { name: "example", runs: "Three runs each.".into(), tables: vec![example()] };
        evidence.write(&places).expect("written");
        let text = std::fs::read_to_string(&page).expect("there");
        assert!(
            text.starts_with("# Title\n\nWords.\n") && text.ends_with("## Why\n") && !text.contains("\nold\n"),
            "{text}"
        );
        assert!(
            text.contains("**Of 3 comparisons 1 agree, 1 cannot be told apart and 1 differ.** Three runs each."),
            "{text}"
        );
        assert!(text.contains("| An example | goodput within 5 % | 1 | 1 | 1 |"), "{text}");
        assert!(folder.path().join("images/example-differences.svg").exists());
        evidence.write(&places).expect("written again");
        assert_eq!(std::fs::read_to_string(&page).expect("there"), text, "twice is once");
        let data = std::fs::read_to_string(folder.path().join("data/example.json")).expect("there");
        assert!(data.contains("\"differs\""), "{data}");
    }

    #[test]
    fn a_page_without_marks_is_refused() {
        assert!(between_marks("# Title\n", "text").is_none());
        assert!(between_marks(&format!("{END}\n{BEGIN}\n"), "text").is_none());
    }

    /// Pages and data are committed together.
    #[test]
    fn each_page_has_the_counts_of_its_data() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for name in crate::PAGES {
            let page = std::fs::read_to_string(root.join(format!("docs/{name}.md"))).expect("the page is there");
            let data = std::fs::read_to_string(root.join(format!("experiments/validation/{name}.json")))
                .expect("the data is there");
            let count = |words: &str| data.matches(&format!("\": \"{words}\"")).count();
            let (agree, open, differ) = (count("agrees"), count("cannot be told apart"), count("differs"));
            let answer = format!(
                "**Of {} comparisons {agree} agree, {open} cannot be told apart and {differ} differ.**",
                agree + open + differ
            );
            assert!(page.replace('\n', " ").contains(&answer), "docs/{name}.md: {answer}");
        }
    }
}
