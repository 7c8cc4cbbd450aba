//! `node`: serves a library that several nodes share.
//!
//! [`status`] shows its nodes, [`migrate`] moves a library to it and back.
//!
//! Invariant: a password is not taken from an argument, which other users of the machine can read.

mod migrate;
mod status;

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use toolcell_i18n::{message, msgid};

use super::mcp::{Calls, ServedLibrary};
use crate::args::{MigrateCommand, NodeArgs, NodeCommand, SharedLibraryArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::library::{self, BLOBS_VARIABLE, ConnectLibrary, EngineUrls, NodeLibrary, URL_VARIABLE, WIRE_VARIABLE};

/// The program with the clients of the databases.
const PROGRAM: &str = "toolcell-cluster";

pub(crate) fn run(args: &NodeArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Some(connect) = library::engines() else { return Err(start_program()) };
    match &args.command {
        Some(NodeCommand::Status(shared)) => return status::run(&open_library(connect, shared, None)?, context),
        Some(NodeCommand::Migrate { direction: MigrateCommand::Up(args) }) => {
            return migrate::up(&open_library(connect, &args.library, None)?, &args.principal, context);
        }
        Some(NodeCommand::Migrate { direction: MigrateCommand::Down(args) }) => {
            return migrate::down(&open_library(connect, &args.library, None)?, &args.principal, context);
        }
        None => {}
    }
    if args.serve.http.is_none() {
        return Err(CliError::usage(
            message!("a node serves over HTTP, and has no address"),
            msgid!("give the address to listen on: --http HOST:PORT"),
        ));
    }
    let library = open_library(connect, &args.library, args.offline_runs.0)?;
    if args.hand_over && library.wire().is_none() {
        return Err(CliError::usage(
            message!("--hand-over needs a server that carries messages between nodes"),
            msgid!("give it: --wire nats://HOST:PORT; or omit --hand-over"),
        ));
    }
    let calls = if args.hand_over { Calls::HandedOver } else { Calls::Here };
    let head_period = args.audit_heads.map(Duration::from_secs);
    super::mcp::run(&args.serve, Some(ServedLibrary { library, calls, head_period }), context)
}

fn open_library(
    connect: ConnectLibrary,
    args: &SharedLibraryArgs,
    offline_limit: Option<Duration>,
) -> Result<NodeLibrary, CliError> {
    NodeLibrary::connect(connect, &engine_urls(args)?, args.secret.as_deref(), offline_limit)
}

/// Returns the URLs of the engines.
fn engine_urls(args: &SharedLibraryArgs) -> Result<EngineUrls, CliError> {
    let shared = choose_url("--shared", args.shared.as_deref(), URL_VARIABLE)?.ok_or_else(|| {
        CliError::usage(
            message!("the database of the shared library is missing"),
            message!(
                "give it: --shared postgres://USER@HOST:PORT/DATABASE, or set {variable}",
                variable = URL_VARIABLE
            ),
        )
    })?;
    Ok(EngineUrls {
        shared,
        wire: choose_url("--wire", args.wire.as_deref(), WIRE_VARIABLE)?,
        blobs: choose_url("--blobs", args.blobs.as_deref(), BLOBS_VARIABLE)?,
    })
}

/// Returns the URL that an option or a variable of the environment has.
fn choose_url(
    option: &'static str,
    argument: Option<&str>,
    variable: &'static str,
) -> Result<Option<String>, CliError> {
    match (argument, library::url_from_environment(variable)?) {
        (Some(url), None) if has_password(url) => Err(CliError::usage(
            message!("the URL of {option} has a password, which other users of this machine can read", option),
            message!(
                "leave it out, and set PGPASSWORD, NATS_PASSWORD or AWS_SECRET_ACCESS_KEY; PostgreSQL and NATS also take the whole URL \
                 from {variable}",
                variable
            ),
        )),
        (Some(url), None) => Ok(Some(url.to_owned())),
        (None, url) => Ok(url),
        (Some(_), Some(_)) => Err(CliError::usage(
            message!("{option} is given, and {variable} is set too", option, variable),
            message!("unset the variable, or omit {option}", option),
        )),
    }
}

/// Whether a URL has a password. As the clients of the engines read it, all before the first `@` is about the user; a user of NATS without
/// a password is a token, which is one.
fn has_password(url: &str) -> bool {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let is_token = matches!(scheme, "nats" | "tls");
    let has_it = rest.split_once('@').is_some_and(|(user, _)| is_token || user.contains(':'));
    let is_password = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default();
        percent_encoding::percent_decode_str(name).decode_utf8_lossy() == "password"
    };
    has_it || rest.split_once('?').is_some_and(|(_, query)| query.split('&').any(is_password))
}

/// Replaces this process by the program that has the clients of the databases. Returns only if that fails.
fn start_program() -> CliError {
    let Some(program) = find_program() else {
        return CliError::usage(
            message!(
                "this program has no clients of databases: `{program}` is neither beside it nor in PATH",
                program = PROGRAM
            ),
            message!(
                "install `{program}` of the same version, or build it: cargo build --release -p {program}",
                program = PROGRAM
            ),
        );
    };
    let error = Command::new(&program).args(std::env::args_os().skip(1)).exec();
    CliError::File { path: program.display().to_string(), error }
}

fn find_program() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.join(PROGRAM)));
    let in_path = std::env::var_os("PATH");
    let in_path = in_path.iter().flat_map(std::env::split_paths).filter(|folder| folder.is_absolute());
    beside.into_iter().chain(in_path.map(|folder| folder.join(PROGRAM))).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_argument_is_noticed() {
        for url in [
            "postgres://a:b@localhost/c",
            "postgres://a:@localhost/c",
            "postgres://a:b/c@localhost/d",
            "postgres://a:b?c@localhost/d",
            "postgres://a:b#c@localhost/d",
            "postgres://localhost/a:b@c",
            "postgres://a@localhost/c?password=b",
            "postgres://a@localhost/c?sslmode=disable&password=b",
            "postgres://a@localhost/c?%70assword=b",
            "nats://token@localhost:4222",
            "nats://one:4222,a:b@two:4222",
            "s3://key:secret@bucket/prefix",
        ] {
            assert!(has_password(url), "{url}");
        }
        for url in [
            "postgres://a@localhost:5432/c",
            "postgres://localhost:5432/a",
            "postgres://a@[::1]:5432/c?sslmode=disable",
            "nats://localhost:4222,localhost:4223",
            "s3://bucket/prefix?endpoint=http://127.0.0.1:8333",
        ] {
            assert!(!has_password(url), "{url}");
        }
    }
}
