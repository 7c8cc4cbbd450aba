//! Arguments of `node`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;

use super::McpServeArgs;
use super::usage_error::ValueError;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  openssl rand -hex 32 > library.secret && chmod 600 library.secret\n  \
    toolcell node --shared postgres://toolcell@db.example/toolcell --secret library.secret \\\n    \
    --http 0.0.0.0:8080 --tokens tokens.toml --allow-host tools.example.com\n  \
    toolcell node status --shared postgres://toolcell@db.example/toolcell --secret library.secret\n\n\
    All nodes with the same database and secret serve the same tools, approvals, suspended runs and values. Any of them answers\n\
    any request. The store directory of a node is its own copy, which it makes anew if it is deleted.\n\
    Environment: TOOLCELL_SHARED sets the URL, PGPASSWORD the password, TOOLCELL_SHARED_SECRET the secret; SSL_CERT_FILE names\n\
    root certificates for the database; TOOLCELL_SHARED_TIMEOUT_MS says how long its answers are waited for. The others are those of `toolcell mcp`.\n\
    The program `toolcell-cluster` beside this one, or in PATH, has the clients of the databases.\n\
    Exit status: 0 the server was stopped, 2 usage, 5 the database cannot be reached, 6 it cannot be used"
)]
pub(crate) struct NodeArgs {
    #[command(subcommand)]
    pub(crate) command: Option<NodeCommand>,

    #[command(flatten)]
    pub(crate) library: SharedLibraryArgs,

    /// What runs do while the database cannot be reached: `refuse`, `go-on`, or go on for a time such as `90s` or `5m`
    #[arg(long, value_name = "HOW", default_value = "5m", value_parser = parse_offline)]
    pub(crate) offline_runs: OfflineRuns,

    #[command(flatten)]
    pub(crate) serve: McpServeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// Show the nodes of a shared library: what they do, and whether they are set up alike
    #[command(
        after_help = "A node that told nothing for 10 seconds is `silent`: it crashed, or does not reach the database. A node that was\n\
    stopped is not listed. `guest` and `policy` are the first digits of the hashes of the guest and of the policy files.\n\
    Exit status: 0 all nodes are ready or about to end, and are set up alike; 1 one is not; 5 the database cannot be\n\
    reached, 6 it cannot be used"
    )]
    Status(SharedLibraryArgs),
}

/// The shared library of a node.
#[derive(Debug, clap::Args)]
pub(crate) struct SharedLibraryArgs {
    /// Database of the shared library: postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) shared: Option<String>,

    /// File with the secret of the library, 64 hexadecimal digits: the same on all nodes
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: Option<PathBuf>,
}

/// How long runs go on without the database; `None` means for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OfflineRuns(pub(crate) Option<Duration>);

fn parse_offline(text: &str) -> Result<OfflineRuns, ValueError> {
    let time = || {
        let (count, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        count.parse::<u32>().ok().map(|count| Duration::from_secs(u64::from(count) * seconds))
    };
    match text {
        "refuse" => Ok(OfflineRuns(Some(Duration::ZERO))),
        "go-on" => Ok(OfflineRuns(None)),
        _ => time().map(|time| OfflineRuns(Some(time))).ok_or_else(|| {
            ValueError(toolcell_i18n::message!(
                "it is neither `refuse` nor `go-on`, nor a time such as `90s`, `5m` or `1h`"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_the_database_are_refused_or_go_on_for_a_time() {
        for (text, seconds) in
            [("refuse", Some(0)), ("90s", Some(90)), ("5m", Some(300)), ("2h", Some(7200)), ("go-on", None)]
        {
            assert_eq!(parse_offline(text).unwrap().0, seconds.map(Duration::from_secs), "{text}");
        }
        for wrong in ["", "5", "m", "5 m", "-1s", "for ever", "5€"] {
            assert!(parse_offline(wrong).is_err(), "{wrong}");
        }
    }
}
