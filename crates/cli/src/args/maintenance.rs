//! Arguments of `search`, `deprecate` and `retire`.

use std::time::Duration;

use crate::args::store::parse_age;

/// Seconds in a day.
const SECONDS_PER_DAY: f64 = 86_400.0;

/// Converts a duration to days.
pub(crate) fn days(span: Duration) -> f64 {
    span.as_secs_f64() / SECONDS_PER_DAY
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell search csv json\n  toolcell search '日付を 正規化' --json\n  \
    toolcell search sum of sales --limit 3\n\n\
    The search covers names, tags, descriptions and parameters; rare words count more. If nothing matches, the exit\n\
    status is still 0.")]
pub(crate) struct SearchArgs {
    /// Search words
    #[arg(value_name = "WORDS", required = true)]
    pub(crate) words: Vec<String>,

    /// Maximum number of tools, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell deprecate old --successor new\n  toolcell deprecate old\n\n\
    A deprecated tool still runs, and each response about it names its successor. The deprecation is not part of\n\
    `toolcell export`.\n\
    Exit status: 0 done, 4 no such tool, or an invalid successor")]
pub(crate) struct DeprecateArgs {
    /// Tool name or identifier
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// Tool to use instead
    #[arg(long, value_name = "TOOL")]
    pub(crate) successor: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell retire --dry-run\n  toolcell retire --unused 90d --confirm\n\n\
    Retired tools are marked as deprecated, with their successor if one is known. They still run.\n\
    Exit status: 0 done, or nothing to retire; 2 not confirmed")]
pub(crate) struct RetireArgs {
    /// Show which tools would be retired and why, without changing them
    #[arg(long, conflicts_with = "confirm")]
    pub(crate) dry_run: bool,

    /// Retire without asking on the terminal
    #[arg(long)]
    pub(crate) confirm: bool,

    /// Include tools unused for this long: 30d, 12h, 2w
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = parse_age)]
    pub(crate) unused: Duration,
}
