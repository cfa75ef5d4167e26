// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem papers show` and `doc`: what is kept of runs, printed or written as documents without running anything.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use tandem_papers::{Experiment, Findings, Place, Record, markdown, show as all_of};

use super::chosen;
use crate::{
    failure::Failure,
    folder::make_folder,
    origin::command_line,
    output::{json_text, write},
    terminal::{print, warn},
};

#[derive(clap::Args)]
pub struct Show {
    /// Ids such as s0/fig3, or a paper such as s0
    #[arg(required = true)]
    ids: Vec<String>,

    /// Numbers of a run of your own, which `papers run --data` wrote
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// As JSON, with the value of each seed where that is kept
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub struct Doc {
    /// The page of all verdicts, such as docs/reproduction.md; the other pages go to the folder of that name
    file: PathBuf,

    /// Numbers of a run of your own, which `papers run --data` wrote
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

pub fn show(args: &Show) -> Result<(), Failure> {
    let found = records(&args.ids, args.data.as_deref())?;
    if args.json {
        return print(&json_text(&found.iter().map(|(_, findings)| findings).collect::<Vec<_>>())?);
    }
    print(&found.iter().map(|(experiment, findings)| all_of(experiment, findings)).collect::<Vec<_>>().join("\n"))
}

pub fn doc(args: &Doc) -> Result<(), Failure> {
    let found = records(&[], args.data.as_deref())?;
    document(&args.file, &found.iter().map(|(e, f)| (e, f)).collect::<Vec<_>>(), &command_line())
}

/// What is kept of the experiments that words mean, or of all. One without a record is named, and left out of all.
fn records(wanted: &[String], data: Option<&Path>) -> Result<Vec<(Experiment, Findings)>, Failure> {
    let mut found = Vec::new();
    for experiment in chosen(wanted)? {
        let record = match data {
            Some(folder) => Record::open(folder, &experiment.id),
            None => Record::kept(&experiment.id),
        };
        let Some(record) = record else {
            let message =
                format!("there are no numbers of `{0}`: `tandem papers run {0} --data DIR` makes them", experiment.id);
            if !wanted.is_empty() {
                return Err(Failure::usage(message));
            }
            warn(&format!("tandem: {message}"));
            continue;
        };
        let record = record.map_err(anyhow::Error::from)?;
        record.check(&experiment).map_err(anyhow::Error::from)?;
        let findings = Findings::new(&experiment, record);
        found.push((experiment, findings));
    }
    Ok(found)
}

/// Writes each experiment's numbers to a file of its own.
pub fn keep(folder: &Path, found: &[(&Experiment, &Findings)]) -> Result<(), Failure> {
    for (_, findings) in found {
        let path = folder.join(format!("{}.json", findings.id));
        make_folder(path.parent().unwrap_or(folder))?;
        write(&path, &findings.record().text().map_err(anyhow::Error::from)?)?;
    }
    Ok(())
}

/// Writes the table of all verdicts to `path`; a page and a picture per figure go to the folder of that name beside it.
pub fn document(path: &Path, found: &[(&Experiment, &Findings)], command: &str) -> Result<(), Failure> {
    let name = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let pages = path.with_extension("");
    if pages == path {
        return Err(Failure::usage(format!("{}: give a name that ends in .md", path.display())));
    }
    let (name, folder) = (name(path.file_name()), name(pages.file_name()));
    let has_experiments = path.parent().is_some_and(|docs| docs.join("../experiments/results").is_dir());
    let document = markdown(found, command, &Place { name: &name, folder: &folder, has_experiments });
    make_folder(&pages)?;
    document.files.iter().try_for_each(|(file, text)| write(&pages.join(file), text))?;
    write(path, &document.table)
}
