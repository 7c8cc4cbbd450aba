//! The command line: parses arguments, runs commands and maps outcomes to exit statuses.
//!
//! Reading order: [`args`] defines the arguments. The commands on tools are [`create`], [`mod@run`]
//! (with [`receipt`], [`replay`] and [`resume`]), [`list`], [`mod@reflect`], [`search`], [`show`],
//! [`verify`], [`delete`], [`retire`] and [`ledger`]; those without a stored tool are [`exec`],
//! [`profile`], [`check`], [`mod@test`], [`budget`], [`batch`] and [`doctor`]; those on the whole
//! store are [`fsck`], [`bundle`] and [`audit`]. [`answer`] renders a run, [`error`] renders a
//! command that failed before one, and [`exit`] defines the exit status.
//!
//! [`policy_files`] finds the policy in effect, [`trust_list`] records whose hooks may run, and
//! [`toolbox`] is the only module that opens a toolbox; [`config`], [`init`] and [`approvals`] are
//! the commands on them. [`mcp`] runs the server and configures its clients, whose
//! files [`client_config`] edits. [`completions`] and [`man`] are generated from the arguments.
//!
//! Invariant: this is the only crate that knows arguments, streams and exit statuses. Results go to
//! standard output, everything else to standard error.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the command line is where files and the environment are read"
)]

mod answer;
mod approvals;
mod args;
mod audit;
mod batch;
mod budget;
mod bundle;
mod check;
mod client_config;
mod command_error;
mod completions;
mod config;
mod create;
mod delete;
mod doctor;
mod environment;
mod error;
mod exec;
mod exit;
mod fs;
mod fsck;
mod held_effects;
mod init;
mod input;
mod jail;
mod ledger;
mod list;
mod malloc;
mod man;
mod mcp;
mod policy_files;
mod profile;
mod progress;
mod prompt;
mod receipt;
mod reflect;
mod replay;
mod resume;
mod retire;
mod run;
mod sarif;
mod screen;
mod search;
mod show;
mod table;
mod test;
mod toolbox;
mod trust_list;
mod verify;

use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clap::Parser as _;
use toolcell::store::Notice;
use toolcell::{CancelToken, Lang};

use args::{Args, Command, McpArgs, ProfileArgs, ProfileCommand};
use error::CliError;
use exit::Exit;
use policy_files::PolicyFiles;
use screen::Screen;

pub use completions::complete;

/// How long a cancelled call may take to finish and report before the process exits.
const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// The standard streams of a command.
pub struct Streams<'a> {
    /// Standard input.
    pub input: &'a mut dyn Read,
    /// Standard output: results.
    pub output: &'a mut dyn Write,
    /// Standard error: everything else.
    pub errors: &'a mut dyn Write,
    /// Whether standard output is a terminal, where control characters must be escaped.
    pub output_is_terminal: bool,
    /// Whether standard error is a terminal, where progress may be drawn.
    pub errors_are_terminal: bool,
    /// Whether standard input is a terminal. If standard error is one too, the user can be
    /// prompted.
    pub input_is_terminal: bool,
}

impl Streams<'_> {
    /// Whether the user can be prompted.
    pub(crate) fn is_interactive(&self) -> bool {
        self.input_is_terminal && self.errors_are_terminal
    }

    /// Returns text for standard output. On a terminal, control characters are escaped.
    pub(crate) fn escape_for_output(&self, text: &str) -> String {
        if self.output_is_terminal { toolcell::escape_control_chars(text) } else { text.to_owned() }
    }

    /// Returns a line for standard output. On a terminal, it is wrapped to rows so that the
    /// terminal itself never wraps it.
    pub(crate) fn wrap_for_output(&self, line: &str) -> String {
        if self.output_is_terminal {
            Screen::from_terminal(std::io::stdout()).wrap_to_text(line)
        } else {
            line.to_owned()
        }
    }

    /// Returns a line for standard error, wrapped like [`Streams::wrap_for_output`].
    pub(crate) fn wrap_for_errors(&self, line: &str) -> String {
        if self.errors_are_terminal {
            Screen::from_terminal(std::io::stderr()).wrap_to_text(line)
        } else {
            line.to_owned()
        }
    }
}

/// Runs this process's command. The entry point of the binary.
#[must_use]
pub fn main() -> ExitCode {
    toolcell::jail::serve_if_worker();
    malloc::limit_arenas();
    if completions::handle_request() {
        return ExitCode::SUCCESS;
    }
    // The handler can be set once per process; this is the start of the process.
    let _ = toolcell::store::set_notice_handler(print_notice);
    let cancel = CancelToken::new();
    let handler = cancel.clone();
    // Without a handler, Ctrl-C terminates the process at once, which is acceptable too.
    let _ = ctrlc::set_handler(move || interrupt(&handler));
    let (mut input, mut output, mut errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let (output_is_terminal, errors_are_terminal) = (output.is_terminal(), errors.is_terminal());
    let input_is_terminal = input.is_terminal();
    let (input, output, errors) = (&mut input, &mut output, &mut errors);
    let streams = Streams { input, output, errors, output_is_terminal, errors_are_terminal, input_is_terminal };
    run(std::env::args_os(), streams, &cancel).into()
}

/// Prints a notice of the store to standard error. A notice about waiting is printed only on a
/// terminal.
fn print_notice(notice: &Notice<'_>) {
    let mut errors = std::io::stderr();
    if !matches!(notice, Notice::Waiting { .. }) || errors.is_terminal() {
        // If this write fails, there is no other stream to report to.
        let _ = writeln!(errors, "warning: {}", toolcell::escape_control_chars(&notice.to_string()));
    }
}

/// Number of interrupts so far if the running command handles them itself; 0 if it does not.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
/// Initial value of [`INTERRUPTS`] when the running command handles interrupts itself.
const HANDLES_INTERRUPTS: u32 = 1;

/// Declares that the running command handles signals and shuts down by itself. A second interrupt
/// still ends the process.
pub(crate) fn set_handles_interrupts() {
    INTERRUPTS.store(HANDLES_INTERRUPTS, Ordering::Relaxed);
}

/// Cancels the running call. If the process is still there after the grace period, for example
/// waiting for input or working on a store, exits; acknowledged writes are kept.
fn interrupt(cancel: &CancelToken) {
    cancel.cancel();
    let heard = INTERRUPTS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |often| (often > 0).then(|| often + 1));
    if heard == Ok(HANDLES_INTERRUPTS) {
        return;
    }
    std::thread::sleep(CANCEL_GRACE);
    // If this write fails, the exit status still reports the interrupt.
    let _ = writeln!(std::io::stderr(), "error: interrupted; acknowledged writes are kept");
    std::process::exit(Exit::Interrupted.status().into());
}

/// Runs one command. `words` are the arguments, starting with the program's name.
pub fn run<W>(words: impl IntoIterator<Item = W>, mut streams: Streams<'_>, cancel: &CancelToken) -> Exit
where
    W: Into<std::ffi::OsString> + Clone,
{
    let args = match Args::try_parse_from(words) {
        Ok(args) => args,
        Err(error) => return args::print_usage_error(&error, &mut streams),
    };
    // Commands that need no policy must work even if a policy file is invalid.
    let rules = PolicyFiles::find(&args.policy);
    let json = args.json;
    let lang = match args.lang(rules.as_ref().ok().and_then(PolicyFiles::language)) {
        Ok(lang) => lang,
        Err(error) => return error.print(json, Lang::En, &mut streams),
    };
    let said_dir = args.dir_option().map(Path::to_owned);
    let dir = args.store_dir();
    let places = args.policy;
    let done = match args.command {
        Command::Create(create) => {
            rules.and_then(|rules| create::run(&create, &rules, &dir?, json, lang, &mut streams))
        }
        Command::Run(words) => {
            rules.and_then(|rules| run::run(&words, &rules, &dir?, json, lang, &mut streams, cancel))
        }
        Command::Replay(words) => replay::run(&words, dir.ok().as_deref(), json, lang, &mut streams, cancel),
        Command::Resume(words) => {
            rules.and_then(|rules| resume::resume(&words, &rules, &dir?, json, lang, &mut streams, cancel))
        }
        Command::Suspended => rules.and_then(|rules| resume::list(&rules, &dir?, json, lang, &mut streams)),
        Command::Verify(words) => {
            rules.and_then(|rules| verify::run(&words, &rules, &dir?, json, lang, &mut streams, cancel))
        }
        Command::List(list) => rules.and_then(|rules| list::run(&list, &rules, &dir?, json, lang, &mut streams)),
        Command::Reflect(words) => {
            rules.and_then(|rules| reflect::run(&words, &rules, dir.ok().as_deref(), json, lang, &mut streams))
        }
        Command::Search(words) => rules.and_then(|rules| search::run(&words, &rules, &dir?, json, lang, &mut streams)),
        Command::Show(show) => rules.and_then(|rules| show::run(&show, &rules, &dir?, json, &mut streams)),
        Command::Delete(delete) => {
            rules.and_then(|rules| delete::run(&delete, &rules, &dir?, json, lang, &mut streams))
        }
        Command::Undelete(words) => {
            rules.and_then(|rules| delete::undelete(&words, &rules, &dir?, json, lang, &mut streams))
        }
        Command::RollBack(words) => {
            rules.and_then(|rules| delete::roll_back(&words, &rules, &dir?, json, lang, &mut streams))
        }
        Command::Deprecate(words) => {
            rules.and_then(|rules| retire::deprecate(&words, &rules, &dir?, json, lang, &mut streams))
        }
        Command::Ledger => rules.and_then(|rules| ledger::run(&rules, &dir?, json, lang, &mut streams)),
        Command::Retire(words) => rules.and_then(|rules| retire::run(&words, &rules, &dir?, json, lang, &mut streams)),
        Command::Exec(exec) => {
            rules.and_then(|rules| exec::run(&exec, &rules, dir.ok().as_deref(), json, lang, &mut streams, cancel))
        }
        Command::Test(words) => test::run(&words, json, lang, &mut streams, cancel),
        Command::Budget(words) => budget::run(&words, rules, dir, json, lang, &mut streams, cancel),
        Command::Profile(ProfileArgs { command: Some(ProfileCommand::Diff(words)), .. }) => {
            profile::diff(&words, json, lang, &mut streams)
        }
        Command::Profile(ProfileArgs { command: None, take }) => {
            rules.and_then(|rules| profile::take(&take, &rules, dir, json, lang, &mut streams, cancel))
        }
        Command::Check(check) => check::run(&check, json, lang, &mut streams),
        Command::Batch(batch) => {
            rules.and_then(|rules| batch::run(batch, &rules, dir.ok().as_deref(), lang, &mut streams, cancel))
        }
        Command::Mcp(McpArgs { command: Some(command), .. }) => {
            mcp::run(&command, &places, said_dir.as_deref(), json, &mut streams)
        }
        Command::Mcp(McpArgs { command: None, serve }) => {
            rules.and_then(|rules| mcp::serve(&serve, &rules, &dir?, lang, &mut streams))
        }
        Command::Doctor(doctor) => doctor::run(&doctor, dir.ok().as_deref(), json, lang, &mut streams),
        Command::Fsck(fsck) => dir.and_then(|dir| fsck::run(&fsck, &dir, json, &mut streams)),
        Command::Gc(gc) => dir.and_then(|dir| fsck::gc(&gc, &dir, json, &mut streams)),
        Command::Export(export) => dir.and_then(|dir| bundle::export_tools(&export, &dir, json, &mut streams)),
        Command::Import(import) => {
            rules.and_then(|rules| bundle::import_tools(&import, &rules, &dir?, json, &mut streams))
        }
        Command::Audit(audit) => dir.and_then(|dir| audit::run(&audit, &dir, json, &mut streams)),
        Command::Approvals(approvals) => {
            rules.and_then(|rules| approvals::run(&approvals, &rules, &dir?, json, lang, &mut streams))
        }
        Command::Config(config) => config::run(&config.command, &places, json, &mut streams),
        Command::Init(init) => init::run(&init, &places, json, &mut streams),
        Command::Completions(completions) => completions::run(&completions, &mut streams),
        Command::Man(man) => man::run(&man, &mut streams),
    };
    // Output still in a buffer would be lost silently at exit.
    let written = |exit| streams.output.flush().map(|()| exit).map_err(CliError::Stream);
    done.and_then(written).unwrap_or_else(|failure| failure.print(json, lang, &mut streams))
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::Stream(error)
    }
}
