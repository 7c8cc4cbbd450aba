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
    Environment: TOOLCELL_SHARED, TOOLCELL_SHARED_WIRE and TOOLCELL_SHARED_BLOBS set the URLs, TOOLCELL_SHARED_SECRET the secret.\n\
    PGPASSWORD is the password of PostgreSQL; NATS_USER and NATS_PASSWORD, or NATS_CREDS with a file, are for NATS; AWS_ACCESS_KEY_ID,\n\
    AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL for S3. SSL_CERT_FILE names root certificates for all of them.\n\
    TOOLCELL_SHARED_TIMEOUT_MS says how long an answer is waited for. The others are those of `toolcell mcp`.\n\
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

    /// Hand each call to the node that has its tool in memory; needs --wire
    #[arg(long)]
    pub(crate) hand_over: bool,

    /// How often to tell the other nodes where the audit logs end [default: 300; 30 for each node if there are more than ten]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) audit_heads: Option<u64>,

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
    /// Move the library of a principal: from a store of its own to nodes, or back
    #[command(
        subcommand_required = true,
        after_help = "Tools with all versions, approvals, status, values, labels, trusted servers and suspended runs are moved. Records of runs,\n\
    usage and the audit log stay in the directory where they are.\n\
    A move that was interrupted is continued when it is repeated.\n\
    Exit status: 0 moved, 2 usage, 5 the database cannot be reached, 6 it cannot be used"
    )]
    Migrate {
        #[command(subcommand)]
        direction: MigrateCommand,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum MigrateCommand {
    /// Copy the store of `--dir` to the library of a principal, which has to be empty
    #[command(after_help = "Example:\n  \
    toolcell node migrate up alice --dir ~/.toolcell \\\n    \
    --shared postgres://toolcell@db.example/toolcell --secret library.secret\n\n\
    From then on the store can only be read, with its records and its audit log. Use the nodes.")]
    Up(MigrateArgs),
    /// Take the library of a principal to a store of its own in `--dir`, and end it on the nodes
    #[command(after_help = "Example:\n  \
    toolcell node migrate down alice --dir alice-store \\\n    \
    --shared postgres://toolcell@db.example/toolcell --secret library.secret\n\n\
    `--dir` is an empty directory, or that of the principal on a node that was stopped (DIR/principals/alice): then its records and\n\
    its audit log stay with it. The nodes neither change nor run a tool of the principal from then on.")]
    Down(MigrateArgs),
}

/// What is moved.
#[derive(Debug, clap::Args)]
pub(crate) struct MigrateArgs {
    /// Principal, as the tokens of the nodes name it
    #[arg(value_name = "PRINCIPAL")]
    pub(crate) principal: String,

    #[command(flatten)]
    pub(crate) library: SharedLibraryArgs,
}

/// The shared library of a node.
#[derive(Debug, clap::Args)]
pub(crate) struct SharedLibraryArgs {
    /// Database of the shared library: postgres://USER@HOST:PORT/DATABASE, or nats://HOST:PORT
    #[arg(long, value_name = "URL")]
    pub(crate) shared: Option<String>,

    /// Server that tells nodes of changes, instead of the database: `nats://HOST:PORT`
    #[arg(long, value_name = "URL")]
    pub(crate) wire: Option<String>,

    /// Store of the objects, instead of the database: `s3://BUCKET/PREFIX`
    #[arg(long, value_name = "URL")]
    pub(crate) blobs: Option<String>,

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
