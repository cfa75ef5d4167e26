// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a ticket comes from and goes to. It has a secret: anyone who reads it can send in its owner's place.

use std::{
    fs::File,
    io::{BufRead, BufReader, IsTerminal, Read, Write, stderr, stdin},
    path::Path,
};

use tandem_transfer::Ticket;
use tempfile::NamedTempFile;

use crate::failure::Failure;

/// The variable that may have the ticket.
pub const VARIABLE: &str = "TANDEM_TICKET";
/// In the ticket's place: it comes from standard input.
const STANDARD_INPUT: &str = "-";
/// More than a ticket has. What is longer is another file.
const MAX_BYTES: u64 = 1024;

/// The ticket, and the files among what was named. With a ticket from a file or the environment all of it is files, otherwise the last is the
/// ticket.
pub fn find<'a>(what: &'a [String], file: Option<&Path>) -> Result<(Ticket, &'a [String]), Failure> {
    if let Some(path) = file {
        let unreadable = |e| Failure::usage(format!("{}: cannot be read: {e}", path.display()));
        let ticket = parse(&first_line(File::open(path).map_err(unreadable)?).map_err(unreadable)?);
        return Ok((ticket.map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?, what));
    }
    match (what.split_last(), std::env::var(VARIABLE)) {
        (Some((last, files)), _) if last == STANDARD_INPUT => Ok((from_standard_input()?, files)),
        (Some((last, files)), variable) => match (parse(last), variable) {
            (Ok(ticket), _) => Ok((ticket, files)),
            (Err(_), Ok(text)) => Ok((from_variable(&text)?, what)),
            (Err(e), Err(_)) => Err(Failure::usage(format!("`{last}`: {e}"))),
        },
        (None, Ok(text)) => Ok((from_variable(&text)?, what)),
        (None, Err(_)) => Err(Failure::usage("name the files to send, then the ticket")),
    }
}

fn parse(text: &str) -> Result<Ticket, tandem_transfer::BadTicket> {
    text.parse()
}

fn from_variable(text: &str) -> Result<Ticket, Failure> {
    parse(text).map_err(|e| Failure::usage(format!("{VARIABLE}: {e}")))
}

fn from_standard_input() -> Result<Ticket, Failure> {
    if stdin().is_terminal() {
        eprint!("Ticket: ");
        let _ = stderr().flush();
    }
    let line = first_line(stdin()).map_err(|e| Failure::usage(format!("standard input: cannot be read: {e}")))?;
    parse(&line).map_err(|e| Failure::usage(format!("standard input: {e}")))
}

fn first_line(source: impl Read) -> std::io::Result<String> {
    let mut line = Vec::new();
    BufReader::new(source.take(MAX_BYTES)).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Writes the ticket to a file that its owner alone can read. What had the name is replaced, and no link is followed.
pub fn write(ticket: &Ticket, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || {
        let mut file = NamedTempFile::new_in(folder)?;
        writeln!(file, "{ticket}")?;
        file.persist(path).map_err(|e| e.error)
    };
    write().map(drop).map_err(|e| Failure::Failed(anyhow::anyhow!("{}: cannot be written: {e}", path.display())))
}
