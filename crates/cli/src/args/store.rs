//! What can be typed about the store as a whole.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{Span, SpanRelativeTo, Timestamp};
use toolcell::IdPrefix;
use toolcell::store::audit::{Action, Filter, Head, Order};

use clap::{Subcommand, ValueEnum};

#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status: 0 all is well, or was mended; 6 something is wrong")]
pub(crate) struct FsckArgs {
    /// Put aside what is damaged, and make the index anew where it is; nothing is thrown away
    #[arg(long)]
    pub(crate) repair: bool,

    /// With --repair: take in a step that the index does not know, by its name or by digits of its hash; others are put aside
    #[arg(long, value_name = "STEP", requires = "repair")]
    pub(crate) adopt: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell gc --dry-run\n  toolcell gc --older-than 1h\n\n\
    What was deleted can be undeleted until it is collected.")]
pub(crate) struct GcArgs {
    /// Collect only what was deleted longer ago than this: 30d, 12h, 0s
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = age)]
    pub(crate) older_than: Duration,

    /// Say what would be collected, and collect nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  toolcell export > tools.bundle\n  toolcell export average json-to-csv -o tools.bundle\n  \
    toolcell export -o tools.bundle --sign minisign.key\n\n\
    The same tools give the same bytes. A signature is a file beside the bundle, tools.bundle.minisig, that\n\
    `minisign -V -m tools.bundle -p minisign.pub` verifies as well; the password of the key is taken from\n\
    TOOLCELL_KEY_PASSWORD."
)]
pub(crate) struct ExportArgs {
    /// Names or identifiers; all tools where there is none
    pub(crate) tools: Vec<String>,

    /// Where to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Take along what names led to before
    #[arg(long)]
    pub(crate) history: bool,

    /// Sign with a secret key of minisign
    #[arg(long, value_name = "KEY", requires = "output")]
    pub(crate) sign: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  toolcell import tools.bundle\n  toolcell import tools.bundle --key author.pub --signed\n  \
    cat tools.bundle | toolcell import -\n\n\
    Whatever the bundle says, its tools are analysed, and come in unverified and unapproved. A signature beside it\n\
    (tools.bundle.minisig) is verified with the keys in `keys/` of the store and those that are given.\n\
    Exit status: 0 done, 2 no bundle, 3 a tool is refused, 4 a name is taken, 6 not what it says it is"
)]
pub(crate) struct ImportArgs {
    /// A bundle, or - for standard input
    pub(crate) file: String,

    /// Make new versions of tools whose names are taken
    #[arg(long)]
    pub(crate) replace: bool,

    /// Trust this public key of minisign
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<PathBuf>,

    /// Refuse a bundle without a signature
    #[arg(long)]
    pub(crate) signed: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  toolcell audit --limit 20\n  toolcell audit --tool average --outcome failed --since 2026-11-01T00:00:00Z\n  \
        toolcell audit record\n  toolcell audit verify"
)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,

    /// Of this tool: a name or an identifier
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,

    /// Of this action, such as `run_dynamic_tool` or `import`
    #[arg(long, value_name = "ACTION", value_parser = action)]
    action: Option<Action>,

    /// Not before this time: 2026-11-21T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,

    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Timestamp>,

    /// Only what went so
    #[arg(long, value_name = "OUTCOME")]
    outcome: Option<Outcome>,

    /// At most so many lines
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u64,

    /// The oldest first
    #[arg(long)]
    oldest_first: bool,
}

/// How an attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Outcome {
    /// It succeeded
    Succeeded,
    /// It failed or was refused
    Failed,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show what is kept of a run: how it ended, what it was granted, and what was done for it
    #[command(
        after_help = "Examples:\n  toolcell audit record\n  toolcell audit record r_00c0ffee00c0ffee-1f --json\n\n\
        What was done is each operation with how far it got: none, started (it may have happened) or committed. Of\n\
        more than 256 the rest is counted by kind. Exit status: 0 done, 4 there is no such record"
    )]
    Record {
        /// The run, as the log names it, or the hash of its record, as `run --json` prints it [default: the last run]
        #[arg(value_name = "RUN|HASH")]
        run: Option<String>,
    },
    /// Say whether a line was changed, dropped or moved, and which
    #[command(after_help = "Exit status: 0 the log is as it was written, 6 it is not\n\n\
        The chain has no key: who can write the log can write all of it anew. A head that is kept elsewhere proves\n\
        that nothing up to it was changed.")]
    Verify {
        /// A head that an earlier verification printed: it must be in the log
        #[arg(long, value_name = "SEQ:HASH")]
        head: Option<Head>,
    },
}

impl AuditArgs {
    /// Which lines are asked for.
    pub(crate) fn filter(&self) -> Filter {
        let tool = self.tool.as_deref().map(IdPrefix::parse);
        Filter {
            // What is no identifier is a name, and need not be one that a tool can have: such attempts are logged too.
            name: self.tool.clone().filter(|_| matches!(tool, Some(Err(_)))),
            tool: tool.and_then(Result::ok),
            action: self.action,
            since: self.since,
            until: self.until,
            success: self.outcome.map(|outcome| outcome == Outcome::Succeeded),
            limit: Some(self.limit),
        }
    }

    /// Which come first.
    pub(crate) fn order(&self) -> Order {
        if self.oldest_first { Order::OldestFirst } else { Order::NewestFirst }
    }
}

fn action(text: &str) -> Result<Action, String> {
    Action::named(text).ok_or_else(|| {
        let known: Vec<&str> = Action::ALL.into_iter().map(Action::name).collect();
        format!("there are {}", known.join(", "))
    })
}

/// A moment, as RFC 3339 writes it.
fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "say for example 2026-11-21T12:00:00Z".to_owned())
}

/// A span of time such as `30d`; a day has 24 hours.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    let span: Span = text.parse().map_err(|_| "say for example 30d, 12h or 90s".to_owned())?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| error.to_string())?;
    Duration::try_from(duration).map_err(|_| "it is negative".to_owned())
}
