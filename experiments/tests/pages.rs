// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/reproduction.md and its pages are what the kept numbers say, byte for byte, and each page fits the head.

use std::{fs, path::Path, sync::LazyLock};

use tandem_papers::{Document, Experiment, Findings, Place, Record, all, markdown, show};

/// A page has at most this many words: runs of characters with a letter or a digit, as scripts/lint/words.py counts them.
const WORDS: usize = 400;

/// Once for all tests: reading the files checks each scenario.
static FOUND: LazyLock<Vec<(Experiment, Findings)>> = LazyLock::new(|| {
    let with_numbers = |experiment: Experiment| {
        let record = Record::kept(&experiment.id).unwrap_or_else(|| panic!("{} has no numbers", experiment.id));
        let record =
            record.unwrap_or_else(|e| panic!("{e}: {:?}", std::error::Error::source(&e).map(ToString::to_string)));
        record.check(&experiment).unwrap_or_else(|e| panic!("{e}"));
        let findings = Findings::new(&experiment, record);
        (experiment, findings)
    };
    all().unwrap_or_else(|e| panic!("{e}")).into_iter().map(with_numbers).collect()
});

fn document() -> Document {
    let pairs: Vec<(&Experiment, &Findings)> = FOUND.iter().map(|(e, f)| (e, f)).collect();
    let place = Place { name: "reproduction.md", folder: "reproduction", has_experiments: true };
    markdown(&pairs, "tandem papers doc docs/reproduction.md --data experiments/results", &place)
}

/// `UPDATE_DOCS=1` writes them.
#[test]
fn the_pages_are_what_the_numbers_say() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let document = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(docs.join("reproduction.md"), &document.table).unwrap();
        document.files.iter().for_each(|(name, text)| fs::write(docs.join("reproduction").join(name), text).unwrap());
    }
    let read = |name: &str| fs::read_to_string(docs.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let differs = "`tandem papers doc docs/reproduction.md` writes it anew";
    assert!(read("reproduction.md") == document.table, "reproduction.md: {differs}");
    for (name, text) in &document.files {
        assert!(&read(&format!("reproduction/{name}")) == text, "{name}: {differs}");
    }
    assert_eq!(
        fs::read_dir(docs.join("reproduction")).unwrap().count(),
        document.files.len(),
        "a page of no experiment"
    );
}

#[test]
fn a_page_fits_the_head() {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    for (name, text) in document().files.iter().filter(|(name, _)| name.ends_with(".md")) {
        let words = text.split_whitespace().filter(is_word).count();
        assert!(words <= WORDS, "{name} has {words} words");
        let first_screen: Vec<&str> = text.split("\n\n").take(4).collect();
        assert!(first_screen[2].starts_with("**The paper says:**"), "{name}: {first_screen:?}");
        assert!(text.contains(&format!("({}.svg)", name.trim_end_matches(".md"))), "{name} has no picture");
        let is_empty = |line: &str| {
            line.starts_with("| ") && line.split(" | ").skip(1).all(|cell| cell.trim_end_matches(" |") == "-")
        };
        assert!(!text.lines().any(is_empty), "{name} shows what was not run");
    }
}

/// S1's Figure 4: 14.8 ± 1.2 packets with three flows, where the paper prints 21 and a tenth is accepted.
#[test]
fn a_verdict_is_a_sentence() {
    let document = document();
    let (_, page) = document.files.iter().find(|(name, _)| name == "s1-fig4.md").unwrap();
    let page = page.replace('\n', " ");
    assert!(page.contains("; the paper prints 21 (we accept 18.9 to 23.1)"), "{page}");
    assert!(page.contains("1 of 3 headlines holds"), "{page}");
}

/// The page's table has the curve and the point of the number that the verdict rests on, however little room there is.
#[test]
fn the_table_has_the_number_of_the_verdict() {
    let document = document();
    let row = |page: &str, column: &str, point: &str| {
        let (_, page) = document.files.iter().find(|(name, _)| name == page).unwrap();
        let rows: Vec<Vec<&str>> =
            page.lines().filter(|l| l.starts_with("| ")).map(|l| l.split(" | ").collect()).collect();
        let place = rows[0].iter().position(|cell| cell.trim_end_matches(" |") == column).expect("the column is there");
        let row = rows.iter().find(|row| row[0] == format!("| {point}")).expect("the row is there");
        row[place].to_owned()
    };
    let number = row("s3-table1.md", "CUBIC", "highspeed");
    let (_, page) = document.files.iter().find(|(name, _)| name == "s3-table1.md").unwrap();
    assert!(page.contains(&format!("CUBIC gets {} Mb/s beside HSTCP", number.split(" [").next().unwrap())), "{number}");
    row("s3-fig13-reverse.md", "3 hops over 1 hop", "reno");
    row("s3-fig13-reverse.md", "3 hops over 1 hop, without reverse traffic", "reno");
}

/// What is kept goes through its file unchanged, and all of it is printed.
#[test]
fn what_is_kept_is_kept_whole() {
    for (experiment, findings) in FOUND.iter() {
        let record = findings.record();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{}.json", experiment.id));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, record.text().unwrap()).unwrap();
        let again = Record::open(folder.path(), &experiment.id).unwrap().unwrap();
        assert_eq!(again.text().unwrap(), record.text().unwrap());
        let text = show(experiment, findings);
        for variant in &findings.variants {
            assert!(text.contains(&format!("Variant: {}", variant.name.as_deref().unwrap())), "{}", experiment.id);
        }
        let is_told = |sentence: &String| text.contains(sentence.as_str());
        assert!(findings.assumptions.iter().chain(&findings.more).all(is_told), "{}", experiment.id);
    }
}

#[test]
fn a_record_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Record::open(folder.path(), "x").is_none());
    fs::write(folder.path().join("x.json"), "{\"id\": 1}").unwrap();
    let error = Record::open(folder.path(), "x").unwrap().unwrap_err().to_string();
    assert!(error.contains("x.json` is not a record of an experiment"), "{error}");
    let [(_, findings), (other, _), ..] = &FOUND[..] else { panic!("two experiments") };
    let error = findings.record().check(other).unwrap_err().to_string();
    assert!(error.contains("is about other"), "{error}");
}
