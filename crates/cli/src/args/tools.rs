//! Arguments of the commands on stored tools: `create`, `run`, `resume`, `list`, `verify`, `show`,
//! `delete`, `undelete`, `rollback` and `reflect`.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::args::store::parse_age;
use crate::args::{ApprovedDigest, LimitArgs, PlanArgs, SandboxArgs};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell create average.ts --description 'Takes the mean of numbers'\n  \
    toolcell create average.ts --parameters '{\"numbers\": {\"type\": \"array\", \"required\": true}}' --tags math\n  \
    toolcell create request.json\n  \
    cat request.json | toolcell create -\n\n\
    Fields without an option are read from the JSON file beside the source, average.json for average.ts. It has the\n\
    fields of a request, which is a JSON object: {\"name\", \"description\", \"code\", …}.\n\
    Exit status: 0 done, 2 missing or invalid fields, 3 refused by the analysis, 4 no such file, or the name is\n\
    taken, 5 the tool limit is reached")]
pub(crate) struct CreateArgs {
    /// A TypeScript or JavaScript file, a JSON request (.json), or - for either on standard input
    pub(crate) file: String,

    /// Tool name [default: the file name without its extension]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Description of what the tool does
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// Parameter schema: a JSON object, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) parameters: Option<String>,

    /// Comma-separated tags
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    pub(crate) tags: Option<Vec<String>>,

    /// Capabilities to request: net, timers, clock, random, kv, files, secrets, tools, servers
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) capabilities: Option<Vec<String>>,

    /// The task that the tool was written for
    #[arg(long, value_name = "TASK")]
    pub(crate) generated_from: Option<String>,

    /// Example as JSON: {"parameters": {…}, "result": …}; instead of "result" also "throws" (part
    /// of an error message) or "holds" (an expression over result and parameters); or @FILE;
    /// repeatable
    #[arg(long, value_name = "JSON")]
    pub(crate) example: Vec<String>,

    /// JSON Schema that every result must match, or @FILE
    #[arg(long, value_name = "JSON")]
    pub(crate) returns: Option<String>,

    /// Declare the tool idempotent: passing a result back as this parameter returns the same result
    #[arg(long, value_name = "PARAMETER")]
    pub(crate) idempotent: Option<String>,

    /// Tokens spent on writing the tool
    #[arg(long, value_name = "TOKENS")]
    pub(crate) cost: Option<u64>,

    /// Create a new version if the name is taken; the old one stays in the history
    #[arg(long)]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell adopt hello.ts\n  toolcell adopt .omp/tools\n  \
    toolcell adopt ~/.pi/agent/extensions --replace\n\n\
    Each tool is stored under the name, the description and the parameters that its file declares. In a folder, the files\n\
    are its .ts, .mts, .js and .mjs files, and the index file of each folder in it. A tool that cannot be stored does not\n\
    keep the others from being stored.\n\
    Exit status: 0 done, otherwise the status of the first tool that was not stored: 1 its file cannot be loaded, 2 invalid\n\
    fields, 3 refused by the analysis, 4 no such file, or the name is taken, 5 the tool limit is reached")]
pub(crate) struct AdoptArgs {
    /// Files, or folders with files, of custom tools (oh-my-pi) or extensions (pi)
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<String>,

    /// Create a new version if a name is taken by another tool; the old one stays in the history
    #[arg(long)]
    pub(crate) replace: bool,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell run average '{\"numbers\": [1, 2, 4.5]}'\n  \
    toolcell run average 'numbers=[1, 2, 4.5]' precision=2\n  \
    toolcell run average @params.json --json\n  \
    toolcell run average --explain\n  toolcell run order item=tea --plan\n  \
    toolcell run average @params.json --receipt average.receipt\n\n\
    In KEY=VALUE, the value is text if the tool declares a string or the value is not valid JSON, else JSON.\n\
    KEY:=JSON is always JSON.\n\
    Exit status: 0 done, 1 the tool failed, 2 usage, 3 refused by the analysis, the policy, a hook or a person,\n\
    4 no such tool, 5 a limit was hit, 6 integrity, 70 a bug, 130 interrupted")]
pub(crate) struct RunArgs {
    /// Tool name or identifier
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// Parameters: a JSON object, @FILE, - for standard input, or KEY=VALUE
    #[arg(value_name = "PARAMS|KEY=VALUE")]
    pub(crate) params: Vec<String>,

    /// Seed of `Math.random()`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Tokens that a successful run saves, for `toolcell ledger`
    #[arg(long, value_name = "N")]
    pub(crate) tokens_saved: Option<u64>,

    /// Time that a successful run saves, such as 90s, for the ledger of `toolcell ui`
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    pub(crate) time_saved: Option<Duration>,

    /// Show each step of the admission decision, without running
    #[arg(long)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) plan: PlanArgs,

    /// Print the text that a model would receive, with a heading and the duration
    #[arg(long, conflicts_with_all = ["explain", "json"])]
    pub(crate) text: bool,

    /// Write a signed receipt for `toolcell replay`; it contains everything the tool read
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    pub(crate) receipt: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell resume r_00c0ffee00c0ffee-1f --show-content\n  \
    toolcell resume r_00c0ffee00c0ffee-1f --approve DIGEST\n  \
    toolcell resume r_00c0ffee00c0ffee-1f --approve all:DIGEST\n  toolcell resume r_00c0ffee00c0ffee-1f --refuse\n\n\
    Without --approve or --refuse, the held effects are listed and the run stays suspended. An approval covers the\n\
    effects that were listed; any other effect is held again. While undecided effects remain, the run is suspended again.\n\
    A run is resumed at most once from each state; `toolcell suspended` lists the suspended runs.\n\
    Exit status: that of `toolcell run`; 4 if the run is not suspended")]
pub(crate) struct ResumeArgs {
    /// Run identifier printed by `toolcell run --suspend`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,

    /// Apply these held effects: digests, or `all:` and the digest of the whole list
    #[arg(long, value_name = "DIGESTS", value_delimiter = ',', value_parser = ApprovedDigest::parse)]
    pub(crate) approve: Vec<ApprovedDigest>,

    /// Show the details and bodies of effects, truncated if long; --json has all of them
    #[arg(long)]
    pub(crate) show_content: bool,

    /// Refuse all other held effects
    #[arg(long)]
    pub(crate) refuse: bool,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
#[command(
    visible_alias = "ls",
    after_help = "Examples:\n  toolcell list\n  toolcell list --tag math --sort usage\n  \
    toolcell list --unused 30d --sort last-used\n  toolcell list --all --json\n\n\
    On a terminal, the table is truncated to its width; elsewhere columns are tab-separated and not truncated."
)]
pub(crate) struct ListArgs {
    /// Only names that contain this text (case-insensitive)
    #[arg(long, value_name = "PART")]
    pub(crate) name: Option<String>,

    /// Only tools with this tag; repeat for any of several
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,

    /// Only tools with at least this safety score (0.0 to 1.0)
    #[arg(long, value_name = "SCORE")]
    pub(crate) min_safety: Option<f64>,

    /// Only tools with this status: unverified, pending, passed, failed, deprecated
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,

    /// Only tools neither used nor created for this long: 30d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub(crate) unused: Option<Duration>,

    /// Sort order
    #[arg(long, value_name = "ORDER", default_value = "created")]
    pub(crate) sort: Sort,

    /// Maximum number of tools, 1 to 1000 [default: 20]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Continue after an earlier page
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,

    /// List all tools
    #[arg(long, conflicts_with_all = ["limit", "cursor"])]
    pub(crate) all: bool,

    /// Print the Markdown that a model would receive
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
}

/// The sort order of `list`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Sort {
    /// Most recently created first
    Created,
    /// Most recently updated first
    Updated,
    /// Alphabetically by name
    Name,
    /// Most runs first
    Usage,
    /// Most recently run first
    LastUsed,
    /// Highest confidence from runs first
    Confidence,
}

impl Sort {
    /// Returns the value of the request field `sort`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Name => "name",
            Self::Usage => "usage",
            Self::LastUsed => "last-used",
            Self::Confidence => "confidence",
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "toolcell verify <TOOL>\n       toolcell verify --all",
    after_help = "Examples:\n  toolcell verify average\n  toolcell verify --all\n  toolcell verify average --cases 2000 --seed 7 --json\n\n\
    A tool passes if its examples hold, it is deterministic, it stays well below its limits, it enforces its\n\
    parameters, and it handles generated inputs across its declared schema. A counterexample is shrunk before it is shown.\n\
    Exit status: 0 passed, 1 failed or not proven, 3 refused by the analysis, the policy, a hook or a person, 4 no such tool,\n\
    130 interrupted"
)]
pub(crate) struct VerifyArgs {
    /// Tool name or identifier
    #[arg(value_name = "TOOL", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) tool: Option<String>,

    /// Verify all tools, in parallel on all cores
    #[arg(long)]
    pub(crate) all: bool,

    /// Number of generated inputs
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) cases: u32,

    /// Seed for the generated inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell show average\n  toolcell show average --version 1\n  \
    toolcell show average --source > average.ts")]
pub(crate) struct ShowArgs {
    /// Tool name or identifier
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// Show this version from the history
    #[arg(long, value_name = "N")]
    pub(crate) version: Option<u64>,

    /// Print only the source
    #[arg(long, conflicts_with = "json")]
    pub(crate) source: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell delete average\n  toolcell delete average --confirm\n\n\
    `toolcell undelete` restores a deleted tool until `toolcell gc` collects it.\n\
    Exit status: 0 done, 2 not confirmed, 4 no such tool")]
pub(crate) struct DeleteArgs {
    /// Tool name or identifier
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// Delete without asking on the terminal
    #[arg(long)]
    pub(crate) confirm: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell undelete average")]
pub(crate) struct UndeleteArgs {
    /// The deleted name, or the identifier of its tool
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell rollback average 2\n\n\
    `toolcell show TOOL` prints the history of a name with its version numbers.")]
pub(crate) struct RollBackArgs {
    /// Tool name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Version number in the history
    #[arg(value_name = "VERSION")]
    pub(crate) version: u64,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell reflect 'Convert the CSV files of each branch to JSON'\n  \
    toolcell reflect 'Tidy the report' --failed-attempts 3 --result @error.txt\n  \
    toolcell reflect @task.txt --history operations.jsonl --json\n  \
    toolcell reflect 'Sum the sales by region' --proposal | toolcell create -\n\n\
    Exit status: 0 for any recommendation; 2 usage; with --proposal, 4 if no tool is recommended")]
pub(crate) struct ReflectArgs {
    /// The task: text, @FILE, or - for standard input
    #[arg(value_name = "TASK")]
    pub(crate) task: String,

    /// Result of the last tool call: text, @FILE, or - for standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) result: Option<String>,

    /// Number of failed attempts so far
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) failed_attempts: Option<String>,

    /// Earlier operations, as a JSON list or JSON lines: a file, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<String>,

    /// Print only the proposed tool, as a request for `toolcell create -`
    #[arg(long, conflicts_with = "json")]
    pub(crate) proposal: bool,
}
