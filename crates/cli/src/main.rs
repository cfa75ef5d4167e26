// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `tandem` command. Exit status: 0 done, 1 failed, 2 bad usage, 130 interrupted (what was done is kept).

mod acks;
mod advise;
mod compare;
mod conform;
mod engine;
mod evaluate;
mod failure;
mod folder;
mod generate;
mod interrupt;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod kernel;
mod list;
mod model;
mod new;
mod origin;
mod output;
mod papers;
mod path;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod policy;
mod real_tcp;
mod run;
mod runner;
mod search;
mod settings;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod shell;
mod store;
mod sweep;
mod terminal;
mod trace;
#[cfg(feature = "quic")]
mod transfer;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod trial;

use std::{
    ffi::OsString,
    panic,
    path::PathBuf,
    process::{self, ExitCode},
    thread,
};

use anyhow::Context;
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use failure::Failure;

/// Which congestion controller suits this path, and what does it do to its neighbours?
#[derive(Parser)]
#[command(name = "tandem", version, long_version = LONG_VERSION, about, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    /// Nothing on standard error but warnings and errors
    #[arg(long, short, global = true)]
    quiet: bool,

    /// Colours in help, errors and `kernel watch`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    #[command(subcommand)]
    command: Command,
}

const LONG_VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\ncommit: ", env!("TANDEM_COMMIT"), "\nbuild: ", env!("TANDEM_BUILD"));

const EXAMPLES: &str = "\
Examples:
  # What to run on a path, and why:
  tandem advise --rate 300mbit --rtt 100ms

  # Four flows of each controller alone on a gigabit path:
  tandem compare --rate 1gbit --rtt 100ms --queue 1500p --loss 1e-6 reno:4 compound:4

  # What each would take from four Reno flows on the same path:
  tandem compare --rate 1gbit --rtt 100ms --queue 1500p --against reno:4 compound:4 cubic:4

  # A scenario from a file:
  tandem run scenarios/dumbbell.toml --seeds 5

  # The same with many rates and controllers, as one table:
  tandem sweep scenarios/sweeps/paths.toml

  # A controller of your own, and what it does on a path:
  tandem new mine
  tandem compare --rate 100mbit --rtt 40ms --queue 1bdp ./mine.h reno

  # A controller for every program on this machine, and its connections live:
  tandem kernel load compound_tube
  tandem kernel watch

  # Which controller connections get, by peer, port or cgroup:
  tandem policy load policy.conf

  # A controller on a tenth of this machine's new connections, against another:
  tandem trial compound_tube --against cubic --share 10% --for 1h

  # What one Compound TCP connection does on a path, worked out without a simulation:
  tandem model --rate 400mbit --rtt 50ms --queue 100p

  # A file to another machine, over QUIC; no root:
  tandem receive downloads        # there; prints a ticket
  tandem send film.mkv -          # here; paste the ticket

  # A figure of a paper, run again: does it hold?
  tandem papers run s0/fig3 --quick

  # A controller by the criteria of RFC 9743:
  tandem evaluate compound_tube --quick

  # The paths on which it does worst:
  tandem search compound_tube --worst stolen --over competition

Each command's --help has more.";

#[derive(Subcommand)]
enum Command {
    Advise(Box<advise::Args>),
    Compare(Box<compare::Args>),
    Run(run::Args),
    Sweep(sweep::Args),
    Model(model::Args),
    #[command(subcommand)]
    Papers(papers::Action),
    Evaluate(evaluate::Args),
    Search(Box<search::Args>),
    Store(store::Args),
    #[cfg(feature = "quic")]
    Receive(transfer::ReceiveArgs),
    #[cfg(feature = "quic")]
    Send(transfer::SendArgs),
    New(new::Args),
    Conform(conform::Args),
    Trace(trace::Args),
    #[cfg(all(feature = "linux", target_os = "linux"))]
    Shell(shell::Args),
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[command(subcommand)]
    Kernel(kernel::Action),
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[command(subcommand)]
    Policy(policy::Action),
    #[cfg(all(feature = "linux", target_os = "linux"))]
    Trial(Box<trial::Args>),
    #[command(subcommand)]
    List(list::What),
    /// Write man pages and completions, for packages
    #[command(hide = true)]
    Generate {
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let color = color_asked_for(std::env::args_os());
    let matches = Cli::command().color(color).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    terminal::set_up(cli.quiet, cli.color);
    let (status, error) = match prepare().and_then(|()| run(cli.command)) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Failed(e)) => (1, e),
        Err(Failure::Usage(e)) => (2, e),
        Err(Failure::Command(status)) => return ExitCode::from(status),
        Err(Failure::Interrupted) => return ExitCode::from(130),
    };
    terminal::complain(&format!("{error:#}"));
    ExitCode::from(status)
}

const NO_THREAD: &str = "cannot start a thread: is a limit too low (ulimit -d, -u, -v), or RUST_MIN_STACK too high?";

/// Sees to it that the system's limits come to light as errors.
fn prepare() -> Result<(), Failure> {
    // With a handler, a write beyond `ulimit -f` fails; without one it ends the program without a word. The flag is of no use.
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default()).context("cannot handle SIGXFSZ")?;
    tell_threads_without_memory();
    drop(thread::Builder::new().spawn(|| {}).context(NO_THREAD)?.join());
    Ok(())
}

/// A thread that finds no memory for its signal stack panics in the standard library, before a line of ours runs in it.
fn tell_threads_without_memory() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let is_memory = |message: &String| message.contains("Cannot allocate memory");
        if panic.payload().downcast_ref().is_some_and(is_memory) {
            eprintln!("tandem: {NO_THREAD}");
            process::exit(1);
        }
        usual(panic);
    }));
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Advise(args) => advise::advise(&args),
        Command::Compare(args) => compare::compare(*args),
        Command::Run(args) => run::run(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Model(args) => model::model(&args),
        Command::Papers(action) => papers::papers(&action),
        Command::Evaluate(args) => evaluate::evaluate(&args),
        Command::Search(args) => search::search(&args),
        Command::Store(args) => store::store(&args),
        #[cfg(feature = "quic")]
        Command::Receive(args) => transfer::receive(&args),
        #[cfg(feature = "quic")]
        Command::Send(args) => transfer::send(&args),
        Command::New(args) => new::new(&args),
        Command::Conform(args) => conform::conform(&args),
        Command::Trace(args) => trace::trace(&args),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Shell(args) => shell::shell(&args),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Kernel(action) => kernel::kernel(&action),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Policy(action) => policy::policy(&action),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Trial(args) => trial::trial(&args),
        Command::List(what) => list::list(&what),
        Command::Generate { folder } => generate::generate(Cli::command(), &folder),
    }
}

/// The colours for what is printed while the arguments are read: help and errors in them.
fn color_asked_for(arguments: impl Iterator<Item = OsString>) -> ColorChoice {
    let words = arguments.map(|word| word.to_string_lossy().into_owned()).take_while(|word| word != "--");
    let (mut choice, mut is_next) = (ColorChoice::Auto, false);
    for word in words {
        let value = if is_next { Some(word.as_str()) } else { word.strip_prefix("--color=") };
        choice = value.and_then(|value| ColorChoice::from_str(value, false).ok()).unwrap_or(choice);
        is_next = word == "--color";
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn colours_are_known_before_the_arguments_are_read() {
        let asked = |line: &str| color_asked_for(line.split(' ').map(OsString::from));
        assert_eq!(asked("tandem compare --color never"), ColorChoice::Never);
        assert_eq!(asked("tandem --color=always list"), ColorChoice::Always);
        assert_eq!(asked("tandem --color=bright list"), ColorChoice::Auto);
        assert_eq!(asked("tandem shell -- ls --color=always"), ColorChoice::Auto);
    }
}
