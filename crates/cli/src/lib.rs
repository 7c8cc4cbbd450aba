//! The command line: parses arguments, runs commands and maps outcomes to exit statuses.
//!
//! Reading order: [`args`] defines the arguments, and [`commands`] has one file per command, which
//! gets its arguments and a [`context`]: the policy, the store directory, the output format, the
//! language and the [`streams`]. [`render`] turns results into text, [`response`] is their JSON,
//! [`error`] is a command that failed, and [`exit`] defines the exit status.
//!
//! [`policy_files`] finds the policy in effect, [`trust_list`] records whose hooks may run, and
//! [`toolbox`] is the only module that opens a toolbox. [`input`] reads what a user passes, [`fs`]
//! writes files, [`environment`] reads variables, [`language`] finds the language of help, and
//! [`prompt`] asks the user. [`client_config`] edits the configuration files of MCP clients,
//! and [`adapter`] has the files of agents.
//!
//! Invariant: this is the only crate that knows arguments, streams and exit statuses. Results go to
//! standard output, everything else to standard error.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the command line is where files and the environment are read"
)]

mod adapter;
mod args;
mod client_config;
mod commands;
mod context;
mod edited_file;
mod library;

mod render;
mod response;

mod error;
mod exit;

mod policy_edit;
mod policy_files;
mod toolbox;
mod trust_list;

mod browser;
mod environment;
mod fs;
mod input;
mod interrupt;
mod language;
mod malloc;
mod name_service;
mod node_report;
mod placement;
mod prompt;
mod question;
mod screen;
mod streams;
mod wire;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use toolcell::store::Notice;
use toolcell::{CancelToken, Lang};
use toolcell_i18n::tr;

use args::{Command, McpArgs, McpCommand, ProfileArgs, ProfileCommand};
use context::Context;
use error::CliError;
use exit::Exit;
use policy_files::PolicyFiles;

pub use args::help_texts;
pub use commands::completions::complete;
pub use library::{ConnectLibrary, EngineUrls, LibraryEngine, LibraryError, SharedCounts, read_private_file};
pub use node_report::{NodeReports, PublishedReport};
pub use streams::{ColorMode, Streams};
pub use wire::{AnswerMessage, Wire, WireFailure, WireFuture};

/// Runs this process's command, with the clients of the engines of shared libraries. The entry point of the binary `toolcell-cluster`.
#[must_use]
pub fn main_with_engines(connect: ConnectLibrary) -> ExitCode {
    library::set_engines(connect);
    main()
}

/// Runs this process's command. The entry point of the binary `toolcell`.
#[must_use]
pub fn main() -> ExitCode {
    name_service::use_built_in_modules();
    toolcell::jail::serve_if_worker();
    malloc::limit_arenas();
    if commands::completions::handle_request() {
        return ExitCode::SUCCESS;
    }
    // The handler can be set once per process; this is the start of the process.
    let _ = toolcell::store::set_notice_handler(print_notice);
    let cancel = CancelToken::new();
    interrupt::install_handler(&cancel);
    let (mut input, mut output, mut errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let (output_is_terminal, errors_are_terminal) = (output.is_terminal(), errors.is_terminal());
    let input_is_terminal = input.is_terminal();
    let (input, output, errors) = (&mut input, &mut output, &mut errors);
    let color = ColorMode::default();
    let streams = Streams { input, output, errors, output_is_terminal, errors_are_terminal, input_is_terminal, color };
    let exit = run(std::env::args_os(), streams, &cancel);
    // Tasks of a runtime that ends with the process may not be dropped.
    toolcell::end_server_programs();
    exit.into()
}

/// Prints a notice of the store to standard error, in the language of this process's arguments. A
/// notice about waiting is printed only on a terminal.
fn print_notice(notice: &Notice<'_>) {
    let mut errors = std::io::stderr();
    if !matches!(notice, Notice::Waiting { .. }) || errors.is_terminal() {
        let words: Vec<OsString> = std::env::args_os().collect();
        let text = tr!(language::of_words(&words), "warning: {notice}", notice);
        // If this write fails, there is no other stream to report to.
        let _ = writeln!(errors, "{}", toolcell::escape_control_chars(&text));
    }
}

/// Runs one command. `words` are the arguments, starting with the program's name.
pub fn run<W>(words: impl IntoIterator<Item = W>, mut streams: Streams<'_>, cancel: &CancelToken) -> Exit
where
    W: Into<OsString>,
{
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let args = match args::parse(&words) {
        Ok(args) => args,
        Err(error) => {
            let lang = language::of_words(&words);
            return match args::to_cli_error(&error).filter(|_| args::asks_for_json(&words)) {
                Some(error) => error.print(streams::OutputFormat::Json, lang, &mut streams),
                None => args::print_usage_error(error, &words, lang, &mut streams),
            };
        }
    };
    streams.color = args.color().unwrap_or_else(ColorMode::from_environment);
    screen::set_color(streams.color.is_on(streams.errors_are_terminal));
    // Commands that need no policy must work even if a policy file is invalid.
    let policy = PolicyFiles::find(&args.policy);
    let format = args.format();
    let lang = match args.lang(policy.as_ref().ok().and_then(PolicyFiles::language)) {
        Ok(lang) => lang,
        Err(error) => return error.print(format, Lang::En, &mut streams),
    };
    interrupt::set_lang(lang);
    let mut context = Context {
        dir_option: args.dir_option().map(Path::to_owned),
        store_dir: args.store_dir().map_err(Rc::new),
        policy: policy.map_err(Rc::new),
        policy_args: args.policy,
        format,
        lang,
        streams,
        cancel: cancel.clone(),
    };
    let done = dispatch(args.command, &mut context);
    let streams = &mut context.streams;
    // Output still in a buffer would be lost silently at exit.
    let written = |exit| streams.output.flush().map(|()| exit).map_err(CliError::Stream);
    done.and_then(written).unwrap_or_else(|error| error.print(format, lang, streams))
}

/// Runs a command. A problem with the environment, and with the policy or the store directory if it
/// needs them, is reported before any input is read.
fn dispatch(command: Command, context: &mut Context<'_>) -> Result<Exit, CliError> {
    if command.obeys_environment() {
        environment::switch(environment::JAIL)?;
    }
    if command.needs_policy() {
        context.policy()?;
    }
    if command.needs_store_dir() {
        context.store_dir()?;
    }
    match command {
        Command::Adopt(args) => commands::adopt::run(&args, context),
        Command::Create(args) => commands::create::run(&args, context),
        Command::Run(args) => commands::run::run(&args, context),
        Command::Replay(args) => commands::replay::run(&args, context),
        Command::Resume(args) => commands::resume::run(&args, context),
        Command::Suspended => commands::suspended::run(context),
        Command::Verify(args) => commands::verify::run(&args, context),
        Command::List(args) => commands::list::run(&args, context),
        Command::Reflect(args) => commands::reflect::run(&args, context),
        Command::Search(args) => commands::search::run(&args, context),
        Command::Show(args) => commands::show::run(&args, context),
        Command::Delete(args) => commands::delete::run(&args, context),
        Command::Undelete(args) => commands::undelete::run(&args, context),
        Command::RollBack(args) => commands::rollback::run(&args, context),
        Command::Deprecate(args) => commands::deprecate::run(&args, context),
        Command::Ledger => commands::ledger::run(context),
        Command::Retire(args) => commands::retire::run(&args, context),
        Command::Exec(args) => commands::exec::run(&args, context),
        Command::Test(args) => commands::test::run(&args, context),
        Command::Budget(args) => commands::budget::run(&args, context),
        Command::Profile(ProfileArgs { command: None, take }) => commands::profile::run(&take, context),
        Command::Profile(ProfileArgs { command: Some(ProfileCommand::Diff(args)), .. }) => {
            commands::profile::diff::run(&args, context)
        }
        Command::Check(args) => commands::check::run(&args, context),
        Command::Batch(args) => commands::batch::run(args, context),
        Command::Mcp(McpArgs { command: None, serve }) => commands::mcp::run(&serve, None, context),
        Command::Mcp(McpArgs { command: Some(McpCommand::Config(args)), .. }) => {
            commands::mcp::config::run(&args, context)
        }
        Command::Node(args) => commands::node::run(&args, context),
        Command::Adapter(args) => commands::adapter::run(&args, context),
        Command::Doctor(args) => commands::doctor::run(&args, context),
        Command::Fsck(args) => commands::fsck::run(&args, context),
        Command::Gc(args) => commands::gc::run(&args, context),
        Command::Export(args) => commands::export::run(&args, context),
        Command::Import(args) => commands::import::run(&args, context),
        Command::Audit(args) => commands::audit::run(&args, context),
        Command::Approvals(args) => commands::approvals::run(&args, context),
        Command::Grant(args) => commands::grant::run(&args, context),
        Command::Servers(args) => commands::servers::run(&args, context),
        Command::Flows(args) => commands::flows::run(&args, context),
        Command::Ui(args) => commands::ui::run(&args, context),
        Command::Decide(args) => commands::decide::run(&args, context),
        Command::Config(args) => commands::config::run(&args, context),
        Command::Init(args) => commands::init::run(&args, context),
        Command::Schema(args) => commands::schema::run(&args, context),
        Command::Types(args) => commands::types::run(&args, context),
        Command::Completions(args) => commands::completions::run(&args, context),
        Command::Man(args) => commands::man::run(&args, context),
    }
}
