// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C compiler at hand, and a folder of this process alone with all that it needs beside the user's header.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

use super::{OwnError, complaints, missing, registry::Header};

mod files {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}
pub use files::HEADERS;

/// What is compiled. eBPF's division by 0 gives 0, a processor's ends the program: here it says where it is, as the sanitizer of gcc and clang
/// calls it (`struct DivremOverflowData` begins with the place).
const OWN_C: &str = "\
#define CONTROLLER mine
#include \"native.c\"
const u32 tandem_signal = OP(_signal);

struct tandem_place { const char *file; u32 line, column; };
int dprintf(int file, const char *format, ...);
void _exit(int status) __attribute__((noreturn));
void __ubsan_handle_divrem_overflow_abort(const struct tandem_place *at, void *a, void *b);
void __ubsan_handle_divrem_overflow_abort(const struct tandem_place *at, void *a, void *b)
{
	(void)a;
	(void)b;
	dprintf(2, \"error: %s:%u:%u: a division by 0, which eBPF takes for 0: see to it that the \"
		   \"divisor is at least 1\\n\", at->file, (unsigned)at->line, (unsigned)at->column);
	_exit(1);
}
";
/// The list has this one alone. A header says by two macros what entries of the list say.
const OWN_LIST: &str = "\
#ifndef TANDEM_TRAITS
#define TANDEM_TRAITS 0
#endif
#ifndef TANDEM_SIGNAL
#define TANDEM_SIGNAL LOSS
#endif
#define TANDEM_OWN_(name, signal, traits) TANDEM_CONTROLLER(name, \"own\", signal, traits, 0, \"\")
#define TANDEM_OWN(name, signal, traits) TANDEM_OWN_(name, signal, traits)
TANDEM_OWN(mine, TANDEM_SIGNAL, TANDEM_TRAITS)
";
/// For the sizes of what a header alone declares.
const SIZES_C: &str = "\
#include \"contract.h\"
#pragma GCC diagnostic ignored \"-Wunused-parameter\"
#include \"mine.h\"
const u32 tandem_bytes = sizeof(struct mine);
#ifdef TANDEM_OWNS_SLOW_START
const u32 tandem_room = TANDEM_STATE_BYTES;
#else
const u32 tandem_room = TANDEM_STATE_BYTES - 16;
#endif
";
const ALONE_C: &str = "#include \"contract.h\"\n#include \"mine.h\"\n";

/// Writes all of Tandem's headers into a folder, with a list that has one controller alone.
///
/// # Errors
/// If the folder cannot be written to.
pub fn write_list(folder: &Path, name: &str) -> io::Result<()> {
    HEADERS.iter().try_for_each(|(file, text)| fs::write(folder.join(file), text))?;
    fs::write(folder.join("controllers.def"), OWN_LIST.replace("(mine,", &format!("({name},")))
}

/// What came of a header.
pub(super) struct Compiled {
    pub library: PathBuf,
    /// Stands for the text as the compiler sees it, without comments and line numbers.
    pub arithmetic: String,
    /// The user's files in it.
    pub files: Vec<PathBuf>,
}

/// Where one header is compiled. Nobody else can write there, and it goes at the end.
pub(super) struct Workshop<'a> {
    header: &'a Header,
    folder: TempDir,
}

impl<'a> Workshop<'a> {
    pub fn new(header: &'a Header) -> Result<Self, OwnError> {
        let temporary = |e: io::Error| OwnError::Temporary(e.to_string());
        let folder = tempfile::Builder::new().prefix("tandem-").tempdir().map_err(temporary)?;
        write_list(folder.path(), &header.name).map_err(temporary)?;
        let mine = |text: &str| text.replace("mine", &header.name);
        let sources = [("native.c", files::NATIVE_C.to_owned()), ("own.c", OWN_C.replacen("mine", &header.name, 1))];
        let sources = sources.into_iter().chain([("sizes.c", mine(SIZES_C)), ("alone.c", mine(ALONE_C))]);
        for (file, text) in sources {
            fs::write(folder.path().join(file), text).map_err(temporary)?;
        }
        Ok(Self { header, folder })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a library of the header.
    pub fn compile(&self) -> Result<Compiled, OwnError> {
        let preprocessed = self.run(&["-E", "-MMD", "-MF", "own.d", "own.c", "-o", "own.i"])?;
        if !preprocessed.status.success() {
            return Err(self.why(&preprocessed));
        }
        let temporary = |e: io::Error| OwnError::Temporary(e.to_string());
        let text = fs::read(self.folder().join("own.i")).map_err(temporary)?;
        let rules = fs::read_to_string(self.folder().join("own.d")).map_err(temporary)?;
        // From what was read once: the user may be writing to the header.
        let compiled = self.object("own.i")?;
        if !compiled.status.success() {
            // Of the sources the compiler knows the macros, too.
            let again = self.object("own.c")?;
            return Err(self.why(if again.status.success() { &compiled } else { &again }));
        }
        if let Some(messages) = complaints::warnings(self, &compiled.stderr) {
            return Err(OwnError::DoesNotCompile { path: self.header.shown.clone(), messages });
        }
        // Without the sanitizer's library: what is wanted of it is in own.c.
        let linked = self.run(&["-shared", "own.o", "-o", "own.so"])?;
        if !linked.status.success() {
            return Err(self.why(&linked));
        }
        Ok(Compiled {
            library: self.folder().join("own.so"),
            arithmetic: arithmetic(&text, &self.header.name),
            files: self.users_files(&rules),
        })
    }

    /// Compiles a file of the folder, into own.o.
    fn object(&self, source: &str) -> Result<Output, OwnError> {
        // What the kernel would not load is an error here, too: floating point.
        let general = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        let general: &[&str] = if general { &["-mgeneral-regs-only"] } else { &[] };
        let fatal = ["implicit-function-declaration", "implicit-int", "int-conversion", "incompatible-pointer-types"];
        let fatal = fatal.map(|warning| format!("-Werror={warning}"));
        let mut arguments = vec!["-O2", "-fPIC", "-Wall", "-Wextra", "-Wno-unused-function"];
        arguments.extend(["-fsanitize=integer-divide-by-zero", "-fno-sanitize-recover=all"]);
        arguments.extend(general.iter().copied().chain(fatal.iter().map(String::as_str)));
        arguments.extend(["-c", source, "-o", "own.o"]);
        self.run(&arguments)
    }

    /// Runs the compiler in the folder.
    pub fn run(&self, arguments: &[&str]) -> Result<Output, OwnError> {
        let named = env::var("CC").ok().filter(|cc| !cc.trim().is_empty()).unwrap_or_else(|| "cc".into());
        // It may have arguments of its own: `ccache gcc`.
        let mut words = named.split_whitespace();
        let program = words.next().unwrap_or("cc");
        let quote_folder = format!("-iquote{}", self.header.folder.display());
        let mut command = Command::new(program);
        command.args(words).args(["-std=c11", "-ffreestanding", &quote_folder, "-I."]);
        // In its own words, which we look through.
        command.args(arguments).current_dir(self.folder()).env("LC_ALL", "C");
        command.output().map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => {
                OwnError::NoCompiler { path: self.header.shown.clone(), compiler: program.to_owned() }
            }
            _ => OwnError::DoesNotCompile { path: self.header.shown.clone(), messages: format!("`{program}`: {e}") },
        })
    }

    pub fn header(&self) -> &Header {
        self.header
    }

    /// The error of a compiler that has failed.
    fn why(&self, output: &Output) -> OwnError {
        let known = missing::parts(self).or_else(|| missing::room(self, &output.stderr));
        known.unwrap_or_else(|| OwnError::DoesNotCompile {
            path: self.header.shown.clone(),
            messages: complaints::errors(self, &output.stderr),
        })
    }

    /// Those files of a rule for `make` that are not ours.
    fn users_files(&self, rules: &str) -> Vec<PathBuf> {
        let files = prerequisites(rules).into_iter().map(|file| self.folder().join(file));
        files.filter(|file| !file.starts_with(self.folder())).collect()
    }
}

/// The files that a rule for `make` names behind the colon.
fn prerequisites(rules: &str) -> Vec<String> {
    let (mut files, mut file) = (Vec::new(), String::new());
    let mut letters = rules.split_once(": ").map_or("", |(_, files)| files).chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'\n') => {}
            '\\' if letters.peek().is_some_and(|next| " #\\".contains(*next)) => file.extend(letters.next()),
            '$' if letters.peek() == Some(&'$') => file.extend(letters.next()),
            ' ' | '\n' => files.extend(Some(std::mem::take(&mut file)).filter(|file| !file.is_empty())),
            letter => file.push(letter),
        }
    }
    files
}

/// A hash of preprocessed text and a name: 32 hexadecimal digits.
fn arithmetic(text: &[u8], name: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes()).update(b"\n");
    let is_marker = |line: &[u8]| line.starts_with(b"# ") || line.is_empty();
    text.split(|byte| *byte == b'\n').filter(|line| !is_marker(line)).for_each(|line| {
        hasher.update(line).update(b"\n");
    });
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_for_make_are_read() {
        let rules = "own.o: own.c /home/a\\ b/mine.h \\\n  /x/pa$$y.h fixed.h\n";
        assert_eq!(prerequisites(rules), ["own.c", "/home/a b/mine.h", "/x/pa$y.h", "fixed.h"]);
    }

    #[test]
    fn comments_and_places_do_not_count_but_names_and_numbers_do() {
        let hash = |text: &str, name| arithmetic(text.as_bytes(), name);
        assert_eq!(hash("# 1 \"a.h\"\nint a;\n", "x"), hash("# 7 \"b.h\"\n\nint a;\n", "x"));
        assert_ne!(hash("int a;", "x"), hash("int b;", "x"));
        assert_ne!(hash("int a;", "x"), hash("int a;", "y"));
    }
}
