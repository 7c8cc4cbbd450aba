//! The operations as commands: turns words into verbs, and outcomes into exit codes.
//!
//! Reading order: [`args`] is what can be typed; for tools [`create`], [`mod@run`] ([`receipt`], [`replay`], [`sleep`]), [`list`],
//! [`mod@reflect`], [`search`], [`show`], [`verify`], [`delete`], [`retire`] and [`ledger`]; [`exec`], [`profile`], [`check`], [`mod@test`], [`budget`], [`batch`], [`doctor`], and for the store [`fsck`],
//! [`bundle`] and [`audit`], are the commands; [`answer`] is what they print of a run, [`failure`] what they print where there was none, and [`exit`] the exit status.
//!
//! [`rules`] is what holds here, [`trusted`] whose gates may run, and [`open`] the one way to a toolbox; [`config`], [`init`] and
//! [`approvals`] are the commands about them. [`mcp`] leads clients to the server. [`completions`] and [`man`] are made of
//! what can be typed.
//!
//! Invariant: this is the only crate that knows arguments, streams and exit codes. Results go to stdout, everything
//! else to stderr.
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
mod completions;
mod config;
mod create;
mod delete;
mod doctor;
mod exec;
mod exit;
mod failure;
mod fsck;
mod heap;
mod init;
mod input;
mod jail;
mod ledger;
mod list;
mod man;
mod mcp;
mod open;
mod operation;
mod output;
mod person;
mod plan;
mod profile;
mod progress;
mod receipt;
mod reflect;
mod replay;
mod retire;
mod rules;
mod run;
mod sarif;
mod screen;
mod search;
mod show;
mod sleep;
mod table;
mod test;
mod trusted;
mod verify;

use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clap::Parser as _;
use toolcell::CancelToken;
use toolcell::store::Notice;

use args::{Args, Command, McpArgs, ProfileArgs, ProfileCommand};
use exit::Exit;
use failure::Failure;
use rules::Rules;
use screen::Screen;

pub use completions::complete;

/// How long a call that was cancelled has to end and to be told of, before the process ends.
const GRACE: Duration = Duration::from_millis(500);

/// What a command reads and writes.
pub struct Streams<'a> {
    /// Standard input.
    pub input: &'a mut dyn Read,
    /// Standard output: results.
    pub output: &'a mut dyn Write,
    /// Standard error: everything else.
    pub errors: &'a mut dyn Write,
    /// Whether a person looks at the output, so that control characters must not reach it.
    pub output_is_terminal: bool,
    /// Whether a person looks at what goes to standard error, so that progress may be shown there.
    pub errors_are_terminal: bool,
    /// Whether a person types at standard input. Where that and standard error are a terminal, somebody can be asked.
    pub input_is_terminal: bool,
}

impl Streams<'_> {
    /// Whether somebody is there who can be asked.
    pub(crate) fn somebody_is_there(&self) -> bool {
        self.input_is_terminal && self.errors_are_terminal
    }

    /// Text as it may be printed: on a terminal its control characters are made visible.
    pub(crate) fn shown(&self, text: &str) -> String {
        if self.output_is_terminal { toolcell::visible(text) } else { text.to_owned() }
    }

    /// A line that is made of facts, as it may be printed: on a terminal as rows that it does not break.
    pub(crate) fn output_rows(&self, line: &str) -> String {
        if self.output_is_terminal { Screen::from_terminal(std::io::stdout()).rows_of(line) } else { line.to_owned() }
    }

    /// The same for standard error.
    pub(crate) fn error_rows(&self, line: &str) -> String {
        if self.errors_are_terminal { Screen::from_terminal(std::io::stderr()).rows_of(line) } else { line.to_owned() }
    }
}

/// Runs the command of this process.
#[must_use]
pub fn main() -> ExitCode {
    toolcell::jail::serve_if_worker();
    heap::share_where_space_is_short();
    if completions::answered() {
        return ExitCode::SUCCESS;
    }
    // It is heard once for each process, and this is its beginning.
    let _ = toolcell::store::hear_notices(tell);
    let cancel = CancelToken::new();
    let handler = cancel.clone();
    // Without a handler, Ctrl-C ends the process at once, which is right as well.
    let _ = ctrlc::set_handler(move || interrupt(&handler));
    let (mut input, mut output, mut errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let (output_is_terminal, errors_are_terminal) = (output.is_terminal(), errors.is_terminal());
    let input_is_terminal = input.is_terminal();
    let (input, output, errors) = (&mut input, &mut output, &mut errors);
    let streams = Streams { input, output, errors, output_is_terminal, errors_are_terminal, input_is_terminal };
    run(std::env::args_os(), streams, &cancel).into()
}

/// Tells of something beside the results. That one waits is for people only.
fn tell(notice: &Notice<'_>) {
    let mut errors = std::io::stderr();
    if !matches!(notice, Notice::Waiting { .. }) || errors.is_terminal() {
        // Where even this cannot be written, nobody can be told.
        let _ = writeln!(errors, "warning: {}", toolcell::visible(&notice.to_string()));
    }
}

/// Whether what runs ends by itself when it is interrupted, and how often it was.
static ENDING: AtomicU32 = AtomicU32::new(0);
/// What [`ENDING`] begins with where what runs ends by itself.
const ENDS_BY_ITSELF: u32 = 1;

/// Says that what runs now hears signals by itself, and ends by itself, unless somebody insists.
pub(crate) fn ends_by_itself() {
    ENDING.store(ENDS_BY_ITSELF, Ordering::Relaxed);
}

/// Stops the call that runs, and then what does not end of itself: who waits for input, or works on a store, where
/// whatever was acknowledged is kept.
fn interrupt(cancel: &CancelToken) {
    cancel.cancel();
    let heard = ENDING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |often| (often > 0).then(|| often + 1));
    if heard == Ok(ENDS_BY_ITSELF) {
        return;
    }
    std::thread::sleep(GRACE);
    // Where even this cannot be written, the exit status still says it.
    let _ = writeln!(std::io::stderr(), "error: interrupted; what was acknowledged is kept");
    std::process::exit(Exit::Interrupted.status().into());
}

/// Runs one command: `words` are the arguments, the program's name first.
pub fn run<W>(words: impl IntoIterator<Item = W>, mut streams: Streams<'_>, cancel: &CancelToken) -> Exit
where
    W: Into<std::ffi::OsString> + Clone,
{
    let args = match Args::try_parse_from(words) {
        Ok(args) => args,
        Err(error) => return args::explain(&error, &mut streams),
    };
    // What needs no rules works also where they are broken.
    let rules = Rules::find(&args.policy);
    let lang = args.lang(rules.as_ref().ok().and_then(Rules::language));
    let json = args.json;
    let said_dir = args.said_dir().map(Path::to_owned);
    let dir = args.dir();
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
            rules.and_then(|rules| sleep::resume(&words, &rules, &dir?, json, lang, &mut streams, cancel))
        }
        Command::Asleep => rules.and_then(|rules| sleep::list(&rules, &dir?, json, lang, &mut streams)),
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
    // What is still in a buffer would be lost at the end without a word.
    let written = |exit| streams.output.flush().map(|()| exit).map_err(Failure::Stream);
    done.and_then(written).unwrap_or_else(|failure| failure.print(json, lang, &mut streams))
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Stream(error)
    }
}
