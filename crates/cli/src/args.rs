//! What can be typed.

mod doctor;
mod mcp;
mod policy;
mod profile;
mod receipt;
mod store;
mod testing;
mod tools;
mod upkeep;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand, ValueEnum};
use etcetera::BaseStrategy as _;
use toolcell::jail::Program;
use toolcell::{Kind, Lang, SandboxConfig};

use crate::Streams;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) use doctor::DoctorArgs;
pub(crate) use mcp::{McpArgs, McpCommand, McpConfigArgs, McpServeArgs};
pub(crate) use policy::{
    ApprovalsArgs, ApprovalsCommand, CompletionsArgs, ConfigArgs, ConfigCommand, InitArgs, ManArgs, PolicyArgs,
};
pub(crate) use profile::{ProfileArgs, ProfileCommand, ProfileDiffArgs, ProfileTakeArgs};
pub(crate) use receipt::ReplayArgs;
pub(crate) use store::{AuditArgs, AuditCommand, ExportArgs, FsckArgs, GcArgs, ImportArgs};
pub(crate) use testing::{BudgetArgs, BudgetCommand, LearnArgs, RebaseArgs, TestArgs};
pub(crate) use tools::{
    CreateArgs, DeleteArgs, ListArgs, ReflectArgs, ResumeArgs, RollBackArgs, RunArgs, ShowArgs, UndeleteArgs,
    VerifyArgs,
};
pub(crate) use upkeep::{DeprecateArgs, RetireArgs, SearchArgs, days};

/// Runs the tools that an agent writes, each call in a sealed cell.
#[derive(Debug, Parser)]
#[command(name = "toolcell", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Language of messages [default: `TOOLCELL_LANG`, else that of the policy, else the locale, else en]
    #[arg(long, global = true, value_name = "LANG")]
    lang: Option<LangName>,

    /// Directory of the store [default: `TOOLCELL_DIR`, else `toolcell` in the user's data directory]
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

impl Args {
    /// The directory of the store: the option, else `TOOLCELL_DIR`, else one in the user's data directory (the XDG Base
    /// Directory Specification).
    pub(crate) fn dir(&self) -> Result<PathBuf, Failure> {
        dir(self.dir.as_deref())
    }

    /// The directory of the store, where an option says it.
    pub(crate) fn said_dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// The language: the option, else `TOOLCELL_LANG`, else that of the policy, else the locale.
    pub(crate) fn lang(&self, of_policy: Option<Lang>) -> Lang {
        let named = |names: &[&str]| {
            let set = names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
            set.map(|name| Lang::of_locale(&name))
        };
        match self.lang {
            Some(LangName::En) => Lang::En,
            Some(LangName::Ja) => Lang::Ja,
            Some(LangName::Zh) => Lang::Zh,
            None => named(&["TOOLCELL_LANG"])
                .or(of_policy)
                .or_else(|| named(&["LC_ALL", "LC_MESSAGES", "LANG"]))
                .unwrap_or(Lang::En),
        }
    }
}

/// The directory of the store: what is said, else `TOOLCELL_DIR`, else one in the user's data directory.
pub(crate) fn dir(said: Option<&Path>) -> Result<PathBuf, Failure> {
    let said = said.map(PathBuf::from).or_else(|| std::env::var_os("TOOLCELL_DIR").map(PathBuf::from));
    match said.filter(|dir| !dir.as_os_str().is_empty()) {
        Some(dir) => Ok(dir),
        None => match etcetera::base_strategy::Xdg::new() {
            Ok(base) => Ok(base.data_dir().join("toolcell")),
            Err(_) => Err(Failure::NoHome),
        },
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LangName {
    En,
    Ja,
    Zh,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a tool of a source, and keep it
    Create(CreateArgs),
    /// Run a tool that is kept
    Run(RunArgs),
    /// Do a run again, from its receipt, and say whether it comes out the same
    Replay(ReplayArgs),
    /// Wake a run that was put to sleep, and decide about what it waits for
    Resume(ResumeArgs),
    /// List the runs that are asleep
    Asleep,
    /// Prove a tool: run its examples, and look for inputs that it does not bear
    Verify(VerifyArgs),
    /// List the tools that there are
    List(ListArgs),
    /// Say whether a tool is worth making for a task, and which one
    Reflect(ReflectArgs),
    /// Find tools by what they are about
    Search(SearchArgs),
    /// Show all that is known of a tool
    Show(ShowArgs),
    /// Take the name of a tool away
    Delete(DeleteArgs),
    /// Give a name back that was deleted
    Undelete(UndeleteArgs),
    /// Let a name lead to an earlier tool again
    #[command(name = "rollback")]
    RollBack(RollBackArgs),
    /// Let a tool name another one that is to be used in its place
    Deprecate(DeprecateArgs),
    /// Show what tools cost and gave
    Ledger,
    /// Deprecate tools that are of no use any more: unused, failing, superseded, or there twice
    Retire(RetireArgs),
    /// Run a draft once and store nothing
    Exec(ExecArgs),
    /// Run a tool once, and say where its fuel goes: by function and by line
    Profile(ProfileArgs),
    /// Say what sources would do and how well they are written, without running them
    Check(CheckArgs),
    /// Run the tests beside tools, and hold them to their budgets
    Test(TestArgs),
    /// Measure budgets anew, or learn them from runs
    Budget(BudgetArgs),
    /// Answer requests, one JSON object a line, from standard input
    Batch(SandboxArgs),
    /// Serve the operations over MCP, and put the server into the configuration of a client
    Mcp(McpArgs),
    /// Say what this machine gives, whether Toolcell works here, and how its store is
    Doctor(DoctorArgs),
    /// Look at everything in the store, and mend it
    Fsck(FsckArgs),
    /// Collect what was deleted a while ago, what nothing refers to, and what has expired
    Gc(GcArgs),
    /// Write tools into one file
    Export(ExportArgs),
    /// Take in the tools of such a file
    Import(ImportArgs),
    /// Show what was tried, or verify the log of it
    Audit(AuditArgs),
    /// Show which tools wait for somebody's yes, and say it
    Approvals(ApprovalsArgs),
    /// Show, check and trust the rules under which tools run
    Config(ConfigArgs),
    /// Write a policy file to begin with
    Init(InitArgs),
    /// Print what makes a shell complete commands and the names of tools
    Completions(CompletionsArgs),
    /// Print the manual
    Man(ManArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell exec average.js '{\"numbers\": [1, 2, 4.5]}'\n  \
    echo 'const execute = () => 6 * 7' | toolcell exec -\n  \
    toolcell exec tool.js @params.json --fuel 1000000 --json\n\n\
    Exit status: 0 done, 1 the tool failed, 2 usage, 3 refused by the analysis, 4 no such file, 5 a limit was hit, 6 integrity, 70 a bug, \
    130 interrupted")]
pub(crate) struct ExecArgs {
    /// A file of TypeScript or JavaScript, or - for standard input
    pub(crate) file: String,

    /// Parameters: a JSON object, @FILE, or - for standard input
    #[arg(default_value = "{}")]
    pub(crate) params: String,

    /// Which tool, where a factory makes several
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// Run it also where it has a critical finding: the cell is the guard, not the analysis
    #[arg(long)]
    pub(crate) no_analysis: bool,

    /// Seed of `Math.random()`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell check tool.ts\n  toolcell check tools/ --quiet\n  \
    toolcell check tool.ts --capabilities net,timers\n  toolcell check tools/ --format sarif > report.sarif\n\n\
    What a tool asks for is also read from the `capabilities` of the file beside it: tool.json for tool.ts.\n\
    Exit status: 0 all may run, 2 usage, 3 one is refused, 4 no such file")]
pub(crate) struct CheckArgs {
    /// Files, folders, or - for standard input
    #[arg(required = true)]
    pub(crate) paths: Vec<String>,

    /// How to print what was found
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// What the tools ask to be granted: net, timers, clock, random, kv, files, secrets, tools
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    capabilities: Option<Vec<String>>,

    /// Print only what refuses a tool, and the last line
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl CheckArgs {
    /// What the tools ask for, where that is said.
    pub(crate) fn capabilities(&self) -> Result<Option<toolcell::Capabilities>, Failure> {
        let names = self.capabilities.as_deref().map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        names.map(|names| crate::check::named(&names)).transpose()
    }
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// With the line of the source
    Text,
    /// One object a source
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Fuel: about one a Wasm instruction [default: 250000000000]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,

    /// Wall-clock time in milliseconds [default: 30000]
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u64>,

    /// Memory in MiB [default: 64]
    #[arg(long, value_name = "MIB")]
    memory_mb: Option<u64>,

    /// Bytes of the result [default: 1048576]
    #[arg(long, value_name = "BYTES")]
    output_bytes: Option<u64>,

    /// Bytes of console text [default: 65536]
    #[arg(long, value_name = "BYTES")]
    console_bytes: Option<u64>,
}

impl LimitArgs {
    /// The limits that are asked for. What is not said is the policy's to say.
    pub(crate) const fn wanted(self) -> toolcell::Wanted {
        let Self { fuel, timeout_ms, memory_mb, output_bytes, console_bytes } = self;
        toolcell::Wanted { fuel, timeout_ms, memory_mb, output_bytes, console_bytes, operations: None }
    }
}

#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct SandboxArgs {
    /// Which image of the guest to use
    #[arg(long, value_name = "IMAGE", default_value = "auto")]
    image: ImageName,

    /// Run calls in worker processes that are locked in, as a wall behind that of the cell [default: whether `TOOLCELL_JAIL` is 1]
    #[arg(long)]
    jail: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ImageName {
    /// The first of the others that works here
    Auto,
    /// Fastest; 4 GiB of address space a call
    Roomy,
    /// With bounds checks; as much address space as memory
    Bounded,
    /// No executable pages; about 30 times slower
    Interpreted,
}

impl SandboxArgs {
    /// A sandbox for this process, which runs one call at a time.
    pub(crate) fn config(self) -> SandboxConfig {
        let images = match self.image {
            ImageName::Auto => Kind::ALL.to_vec(),
            ImageName::Roomy => vec![Kind::Roomy],
            ImageName::Bounded => vec![Kind::Bounded],
            ImageName::Interpreted => vec![Kind::Interpreted],
        };
        let jailed = self.jail || std::env::var_os("TOOLCELL_JAIL").is_some_and(|value| value == "1");
        SandboxConfig { images, slots: 1, jail: jailed.then_some(Program::This) }
    }

    /// A sandbox for commands that run no tool.
    pub(crate) fn one_call() -> SandboxConfig {
        SandboxConfig { slots: 1, ..SandboxConfig::default() }
    }
}

/// Says what is wrong with the words, or helps.
pub(crate) fn explain(error: &clap::Error, streams: &mut Streams<'_>) -> Exit {
    let text = error.render();
    // Where even this cannot be written, the exit status still says it.
    if error.use_stderr() {
        let _ = write!(streams.errors, "{text}");
        Exit::Usage
    } else {
        let _ = write!(streams.output, "{text}");
        Exit::Done
    }
}
