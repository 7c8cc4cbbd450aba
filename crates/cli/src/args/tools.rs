//! What can be typed about tools.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::args::store::age;
use crate::args::{LimitArgs, SandboxArgs};
use crate::plan::Approved;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell create average.ts --description 'Takes the mean of numbers'\n  \
    toolcell create average.ts --parameters '{\"numbers\": {\"type\": \"array\", \"required\": true}}' --tags math\n  \
    toolcell create request.json\n  \
    cat request.json | toolcell create -\n\n\
    What is not said here is taken from the file beside the source: average.json for average.ts, with the fields of a\n\
    request. A request is a JSON object: {\"name\", \"description\", \"code\", …}.\n\
    Exit status: 0 done, 2 something is missing or wrong, 3 refused by the analysis, 4 no such file, or the name is taken,\n\
    5 there are as many tools as may be")]
pub(crate) struct CreateArgs {
    /// A source in TypeScript or JavaScript, a request that ends in .json, or - for either on standard input
    pub(crate) file: String,

    /// Its name [default: that of the file, without its ending]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// What it does
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// What it takes: a JSON object, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) parameters: Option<String>,

    /// What it is found by
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    pub(crate) tags: Option<Vec<String>>,

    /// What it asks to be granted: net, timers, clock, random, kv, files, secrets, tools
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) capabilities: Option<Vec<String>>,

    /// The task that it was made for
    #[arg(long, value_name = "TASK")]
    pub(crate) generated_from: Option<String>,

    /// What it is expected to do, as JSON: {"parameters": {…}, "result": …}, or "throws" (part of an error) or "holds" (an
    /// expression of result and parameters) in place of "result"; or @FILE; several times
    #[arg(long, value_name = "JSON")]
    pub(crate) example: Vec<String>,

    /// A JSON Schema that every result passes, or @FILE
    #[arg(long, value_name = "JSON")]
    pub(crate) returns: Option<String>,

    /// The parameter that a result can be given back as, where that changes nothing
    #[arg(long, value_name = "PARAMETER")]
    pub(crate) idempotent: Option<String>,

    /// What making it cost, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) cost: Option<u64>,

    /// Make it a new version where the name is taken; the old one stays in the history
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
    In KEY=VALUE, a value is text where the tool declares a text, and else JSON if it is some; KEY:=JSON is always JSON.\n\
    Exit status: 0 done, 1 the tool failed, 2 usage, 3 refused by the analysis, the policy, a gate or a person,\n\
    4 no such tool, 5 a limit was hit, 6 integrity, 70 a bug, 130 interrupted")]
pub(crate) struct RunArgs {
    /// A name or an identifier
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// Parameters: a JSON object, @FILE, - for standard input, or KEY=VALUE
    #[arg(value_name = "PARAMS|KEY=VALUE")]
    pub(crate) params: Vec<String>,

    /// Seed of `Math.random()`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// How many tokens the run saves if it goes well, for `toolcell ledger`
    #[arg(long, value_name = "N")]
    pub(crate) tokens_saved: Option<u64>,

    /// Say what would be decided, step by step, and run nothing
    #[arg(long)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) plan: PlanArgs,

    /// Print the result with a heading and its time, as a model is told of it
    #[arg(long, conflicts_with_all = ["explain", "json"])]
    pub(crate) text: bool,

    /// Write a signed receipt, which `toolcell replay` does the run again from; it has what the tool saw in it
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    pub(crate) receipt: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

/// What of a run is held, and what happens of it.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Hold what would change the world (requests but for GET, HEAD and OPTIONS, what is written), list it, and have only that
    /// happen which somebody chooses
    #[arg(long)]
    pub(crate) plan: bool,

    /// The same, and this happens of it: what was listed, by its digest, or `all:` and the digest of the list
    #[arg(long, value_name = "DIGESTS", value_delimiter = ',', value_parser = Approved::parse)]
    pub(crate) approve: Vec<Approved>,

    /// List it with its details and its body, as far as they are not too long; --json has all of them
    #[arg(long)]
    pub(crate) show_content: bool,

    /// The same, and the run is put to sleep where something is left that nobody chose: `toolcell resume` wakes it
    #[arg(long, conflicts_with = "receipt")]
    pub(crate) sleep: bool,
}

impl PlanArgs {
    /// Whether anything is held.
    pub(crate) fn holds(&self) -> bool {
        self.plan || self.sleep || self.show_content || !self.approve.is_empty()
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell resume r_00c0ffee00c0ffee-1f --show-content\n  \
    toolcell resume r_00c0ffee00c0ffee-1f --approve DIGEST\n  \
    toolcell resume r_00c0ffee00c0ffee-1f --approve all:DIGEST\n  toolcell resume r_00c0ffee00c0ffee-1f --refuse\n\n\
    Where nothing is approved, what is held is listed, and the run sleeps on. An approval is of what was listed: what comes\n\
    after it, or instead of it, is held again.\n\
    A run is woken at most once; `toolcell asleep` lists those that are asleep. Where something is left that nobody chose or\n\
    refused, the run sleeps on.\n\
    Exit status: as of `toolcell run`; 4 where it is not asleep")]
pub(crate) struct ResumeArgs {
    /// The run, as `toolcell run --sleep` said it
    #[arg(value_name = "RUN")]
    pub(crate) run: String,

    /// What happens of what is held: by its digest, or `all:` and the digest of the list
    #[arg(long, value_name = "DIGESTS", value_delimiter = ',', value_parser = Approved::parse)]
    pub(crate) approve: Vec<Approved>,

    /// List it with its details and its body, as far as they are not too long; --json has all of them
    #[arg(long)]
    pub(crate) show_content: bool,

    /// The rest of it does not happen
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
    On a terminal the table is cut to its width; elsewhere columns are separated by tabs, and nothing is cut."
)]
pub(crate) struct ListArgs {
    /// Part of the name, in any case
    #[arg(long, value_name = "PART")]
    pub(crate) name: Option<String>,

    /// With this tag; several times for any of them
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,

    /// With at least this safety score: 0.0 to 1.0
    #[arg(long, value_name = "SCORE")]
    pub(crate) min_safety: Option<f64>,

    /// Of this status: unverified, pending, passed, failed, deprecated
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,

    /// That nobody used for so long, nor made: 30d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) unused: Option<Duration>,

    /// What comes first
    #[arg(long, value_name = "ORDER", default_value = "created")]
    pub(crate) sort: Sort,

    /// At most so many: 1 to 1000 [default: 20]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Go on where an earlier list ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,

    /// All that there are
    #[arg(long, conflicts_with_all = ["limit", "cursor"])]
    pub(crate) all: bool,

    /// Print Markdown, as a model is told of it
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
}

/// What comes first.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Sort {
    /// The newest tool
    Created,
    /// The one about which something was said last
    Updated,
    /// The first of the alphabet
    Name,
    /// The one that ran most often
    Usage,
    /// The one that ran last
    LastUsed,
    /// The one that runs speak most for
    Confidence,
}

impl Sort {
    /// Its name in a request.
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
    A tool passes that does what its examples say, always the same, with room to spare, whose parameters are enforced, and\n\
    that bears whatever it declares that it takes. What is found against it is shown as small as it can be.\n\
    Exit status: 0 passed, 1 failed or not proven, 3 refused by the analysis, the policy, a gate or a person, 4 no such tool,\n\
    130 interrupted"
)]
pub(crate) struct VerifyArgs {
    /// A name or an identifier
    #[arg(value_name = "TOOL", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) tool: Option<String>,

    /// All tools, as many at once as there are cores
    #[arg(long)]
    pub(crate) all: bool,

    /// How many inputs to look at
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) cases: u32,

    /// What the inputs are made from: the same seed makes the same inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell show average\n  toolcell show average --version 1\n  \
    toolcell show average --source > average.ts")]
pub(crate) struct ShowArgs {
    /// A name or an identifier
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// As it was at this step of its history
    #[arg(long, value_name = "N")]
    pub(crate) version: Option<u64>,

    /// Print only the source
    #[arg(long, conflicts_with = "json")]
    pub(crate) source: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "What was deleted comes back with `toolcell undelete`, until `toolcell gc` collects it.\n\
    Exit status: 0 done, 2 nobody confirmed it, 4 no such tool")]
pub(crate) struct DeleteArgs {
    /// A name or an identifier
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// It is meant; without it, a terminal is asked
    #[arg(long)]
    pub(crate) confirm: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UndeleteArgs {
    /// The name that was deleted, or the identifier it led to
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "`toolcell show TOOL` prints the history of a name with the numbers of its versions.")]
pub(crate) struct RollBackArgs {
    /// The name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// The number of the version in its history
    #[arg(value_name = "VERSION")]
    pub(crate) version: u64,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell reflect 'Convert the CSV files of each branch to JSON'\n  \
    toolcell reflect 'Tidy the report' --failed-attempts 3 --result @error.txt\n  \
    toolcell reflect @task.txt --history operations.jsonl --json\n  \
    toolcell reflect 'Sum the sales by region' --proposal | toolcell create -\n\n\
    Exit status: 0 answered, whatever the answer is; 2 usage; with --proposal, 4 where no tool is to be made")]
pub(crate) struct ReflectArgs {
    /// What is to be done: text, @FILE, or - for standard input
    #[arg(value_name = "TASK")]
    pub(crate) task: String,

    /// What the last tool gave: text, @FILE, or - for standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) result: Option<String>,

    /// How often it failed
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) failed_attempts: Option<String>,

    /// What was done before: a file, or - for standard input, with a JSON list or one operation a line
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<String>,

    /// Print only the tool to make, as a request for `toolcell create -`
    #[arg(long, conflicts_with = "json")]
    pub(crate) proposal: bool,
}
