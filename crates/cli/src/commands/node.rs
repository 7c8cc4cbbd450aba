//! `node`: serves a library that several nodes share.
//!
//! [`status`] shows its nodes.
//!
//! Invariant: a password is not taken from an argument, which other users of the machine can read.

mod status;

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use toolcell_i18n::{message, msgid};

use crate::args::{NodeArgs, NodeCommand, SharedLibraryArgs};
use crate::context::Context;
use crate::environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::library::{self, ConnectLibrary, NodeLibrary, URL_VARIABLE};

/// The program with the clients of the databases.
const PROGRAM: &str = "toolcell-cluster";

pub(crate) fn run(args: &NodeArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Some(connect) = library::engines() else { return Err(start_program()) };
    if let Some(NodeCommand::Status(shared)) = &args.command {
        return status::run(&open_library(connect, shared, None)?, context);
    }
    if args.serve.http.is_none() {
        return Err(CliError::usage(
            message!("a node serves over HTTP, and has no address"),
            msgid!("give the address to listen on: --http HOST:PORT"),
        ));
    }
    let library = open_library(connect, &args.library, args.offline_runs.0)?;
    super::mcp::run(&args.serve, Some(library), context)
}

fn open_library(
    connect: ConnectLibrary,
    args: &SharedLibraryArgs,
    offline_limit: Option<Duration>,
) -> Result<NodeLibrary, CliError> {
    let url = shared_url(args.shared.as_deref(), environment::text(URL_VARIABLE)?)?;
    NodeLibrary::connect(connect, &url, args.secret.as_deref(), offline_limit)
}

/// Returns the URL of the database.
fn shared_url(argument: Option<&str>, variable: Option<String>) -> Result<String, CliError> {
    match (argument, variable.filter(|url| !url.is_empty())) {
        (Some(url), None) if has_password(url) => Err(CliError::usage(
            message!("the URL of --shared has a password, which other users of this machine can read"),
            message!("leave it out and set PGPASSWORD, or set {variable} to the whole URL", variable = URL_VARIABLE),
        )),
        (Some(url), None) => Ok(url.to_owned()),
        (None, Some(url)) => Ok(url),
        (None, None) => Err(CliError::usage(
            message!("the database of the shared library is missing"),
            message!(
                "give it: --shared postgres://USER@HOST:PORT/DATABASE, or set {variable}",
                variable = URL_VARIABLE
            ),
        )),
        (Some(_), Some(_)) => Err(CliError::usage(
            message!("--shared is given, and {variable} is set too", variable = URL_VARIABLE),
            msgid!("unset the variable, or omit --shared"),
        )),
    }
}

/// Whether a URL has a password. As the client of the database reads it, all before the first `@` is about the user.
fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let has_it = rest.split_once('@').is_some_and(|(user, _)| user.contains(':'));
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
        ] {
            assert!(has_password(url), "{url}");
        }
        for url in [
            "postgres://a@localhost:5432/c",
            "postgres://localhost:5432/a",
            "postgres://a@[::1]:5432/c?sslmode=disable",
        ] {
            assert!(!has_password(url), "{url}");
        }
    }
}
