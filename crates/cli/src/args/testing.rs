//! Arguments of `test` and `budget`.

use std::path::PathBuf;

use clap::Subcommand;
use toolcell_i18n::message;
use toolcell_testing::Percent;

use super::usage_error::ValueError;
use crate::args::SandboxArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell test tools/\n  toolcell test tools/average.test.toml --filter empty\n  \
    toolcell test tools/ --max-regression 5% --junit report.xml\n  toolcell test tools/ --watch\n  toolcell test tools/ --update\n\n\
    The tests of average.ts are in average.test.toml beside it:\n\n  \
    [[case]]\n  name = \"an average\"\n  params = { numbers = [1, 2, 3] }\n  returns = 2\n\n\
    Tests use no store, no policy and no network: the test file contains the host's responses.\n\
    Exit status: 0 all passed, 1 a test failed, 2 a test file is invalid, 4 no tests found, 130 interrupted")]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct TestArgs {
    /// Test files (NAME.test.toml), or folders that contain them
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Run only tests whose name or tool name contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,

    /// Stop at the first failure
    #[arg(long)]
    pub(crate) fail_fast: bool,

    /// Number of tests to run in parallel [default: the number of cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,

    /// Rerun the tests when a file changes, until Ctrl-C
    #[arg(long, conflicts_with = "update")]
    pub(crate) watch: bool,

    /// Rewrite failing expectations and budgets to the tools' current behavior, after showing a
    /// diff
    #[arg(long)]
    pub(crate) update: bool,

    /// Write the `--update` diff without asking
    #[arg(long, requires = "update")]
    pub(crate) yes: bool,

    /// Fail tests that use this much more fuel than when their budget was written, instead of
    /// checking the budget
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, conflicts_with = "no_budgets")]
    pub(crate) max_regression: Option<Percent>,

    /// Ignore budgets
    #[arg(long)]
    pub(crate) no_budgets: bool,

    /// Write a report in `JUnit` XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Annotate failures for GitHub Actions [default: true if `GITHUB_ACTIONS` is `true`]
    #[arg(long)]
    pub(crate) github: bool,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell budget rebase tools/\n  toolcell budget learn average")]
pub(crate) struct BudgetArgs {
    #[command(subcommand)]
    pub(crate) command: BudgetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BudgetCommand {
    /// Measure budgets again under this build's fuel model, keeping their margins
    #[command(after_help = "Examples:\n  toolcell budget rebase tools/\n  toolcell budget rebase tools/ --dry-run\n\n\
        A file is left unchanged if one of its tests fails for another reason.\n\
        Exit status: 0 done, 1 a test failed, 2 a test file is invalid, 4 no tests found, 130 interrupted")]
    Rebase(RebaseArgs),
    /// Propose limits from recorded runs
    #[command(after_help = "Examples:\n  toolcell budget learn average\n  toolcell budget learn --runs runs.jsonl\n\n\
        With 95 % confidence, a proposed limit covers at least 999 of the next 1,000 runs. A margin of 10 % is added;\n\
        the time limit is multiplied by ten. This holds for any distribution from 3,471 runs on, and for log-normal\n\
        ones from 30.\n\
        Exit status: 0 done, 2 too few runs, 4 no such tool")]
    Learn(LearnArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RebaseArgs {
    /// Test files (NAME.test.toml), or folders that contain them
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Show the diff without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LearnArgs {
    /// Stored tool: a name or an identifier
    #[arg(value_name = "TOOL", required_unless_present = "runs", conflicts_with = "runs")]
    pub(crate) tool: Option<String>,

    /// JSON lines from `toolcell exec --json`, `run --json` or `batch`; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) runs: Option<PathBuf>,
}

fn parse_percent(text: &str) -> Result<Percent, ValueError> {
    text.parse().map_err(|_| ValueError(message!("`{text}` is not a percentage such as 5%", text)))
}
