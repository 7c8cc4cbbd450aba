//! The command-line arguments, as clap types.

mod adapter;
mod decide;
mod doctor;
mod effects;
mod flows;
mod help;
mod maintenance;
mod mcp;
mod node;
mod policy;
mod profile;
mod receipt;
mod servers;
mod store;
mod testing;
mod tools;
mod ui;
mod unparsed;
mod usage_error;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};
use etcetera::BaseStrategy as _;
use toolcell::jail::Program;
use toolcell::{Capabilities, Capability, ImageKind, Lang, SandboxConfig};

use crate::environment;
use crate::error::CliError;
use crate::streams::{ColorMode, OutputFormat};

pub(crate) use adapter::AdapterArgs;
pub(crate) use decide::DecideArgs;
pub(crate) use doctor::{DoctorArgs, ExtraSyscalls};
pub(crate) use effects::{ApprovedDigest, PlanArgs};
pub(crate) use flows::{FlowsArgs, FlowsCommand};
pub use help::help_texts;
pub(crate) use maintenance::{DeprecateArgs, RetireArgs, SearchArgs, days};
pub(crate) use mcp::{McpArgs, McpCommand, McpConfigArgs, McpServeArgs};
pub(crate) use node::{MigrateCommand, NodeArgs, NodeCommand, SharedLibraryArgs};
pub(crate) use policy::{
    ApprovalsArgs, ApprovalsCommand, CompletionsArgs, ConfigArgs, ConfigCommand, GrantArgs, InitArgs, ManArgs,
    PolicyArgs, SchemaArgs, TypesArgs,
};
pub(crate) use profile::{ProfileArgs, ProfileCommand, ProfileDiffArgs, ProfileTakeArgs};
pub(crate) use receipt::ReplayArgs;
pub(crate) use servers::{ServersArgs, ServersCommand};
pub(crate) use store::{AuditArgs, AuditCommand, ExportArgs, FsckArgs, GcArgs, ImportArgs};
pub(crate) use testing::{BudgetArgs, BudgetCommand, LearnArgs, RebaseArgs, TestArgs};
pub(crate) use tools::{
    AdoptArgs, CreateArgs, DeleteArgs, ListArgs, ReflectArgs, ResumeArgs, RollBackArgs, RunArgs, ShowArgs, Sort,
    UndeleteArgs, VerifyArgs,
};
pub(crate) use ui::UiArgs;
pub(crate) use unparsed::{LanguageArgs, find_option};
pub(crate) use usage_error::{asks_for_json, print_usage_error, to_cli_error};

/// Runs tools written by AI agents, each call in its own WebAssembly sandbox
#[derive(Debug, Parser)]
#[command(name = "toolcell", version, max_term_width = help::MAX_COLUMNS)]
pub(crate) struct Args {
    /// Print JSON instead of text
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,

    /// Language of messages [default: `TOOLCELL_LANG`, else the policy's, else the locale's, else
    /// en]
    #[arg(long, global = true, value_name = "LANG", help_heading = "Global options")]
    lang: Option<LangName>,

    /// When to use colors: auto, always or never [default: as `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`
    /// and `TERM` say, else auto: on a terminal]
    #[arg(long, global = true, value_name = "WHEN", hide_possible_values = true, help_heading = "Global options")]
    color: Option<ColorMode>,

    /// Store directory [default: `TOOLCELL_DIR`, else `toolcell` in the user's data directory]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    dir: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

impl Args {
    /// Returns the format of the output.
    pub(crate) fn format(&self) -> OutputFormat {
        if self.json { OutputFormat::Json } else { OutputFormat::Text }
    }

    /// Returns the value of `--color`, if given.
    pub(crate) fn color(&self) -> Option<ColorMode> {
        self.color
    }

    /// Returns the store directory: `--dir`, else `TOOLCELL_DIR`, else `toolcell` in the user's
    /// data directory (XDG Base Directory Specification).
    pub(crate) fn store_dir(&self) -> Result<PathBuf, CliError> {
        resolve_store_dir(self.dir.as_deref())
    }

    /// Returns the value of `--dir`, if given.
    pub(crate) fn dir_option(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// Returns the language: `--lang`, else `TOOLCELL_LANG`, else the policy's, else the locale's,
    /// else English.
    ///
    /// # Errors
    /// `usage` if `TOOLCELL_LANG` names another language.
    pub(crate) fn lang(&self, of_policy: Option<Lang>) -> Result<Lang, CliError> {
        Ok(match self.lang {
            Some(LangName::En) => Lang::En,
            Some(LangName::Ja) => Lang::Ja,
            Some(LangName::Zh) => Lang::Zh,
            None => environment::language()?.or(of_policy).or_else(environment::locale).unwrap_or(Lang::En),
        })
    }
}

/// Resolves the store directory: the given path, else `TOOLCELL_DIR`, else `toolcell` in the user's
/// data directory.
pub(crate) fn resolve_store_dir(given: Option<&Path>) -> Result<PathBuf, CliError> {
    let given = given.map(PathBuf::from).or_else(|| std::env::var_os("TOOLCELL_DIR").map(PathBuf::from));
    match given.filter(|dir| !dir.as_os_str().is_empty()) {
        Some(dir) => Ok(dir),
        None => match etcetera::base_strategy::Xdg::new() {
            Ok(base) => Ok(base.data_dir().join("toolcell")),
            Err(_) => Err(CliError::NoHome),
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
    /// Create a tool from source and store it
    Create(CreateArgs),
    /// Store the tools of files that were written for pi or oh-my-pi
    Adopt(AdoptArgs),
    /// Run a stored tool
    Run(RunArgs),
    /// Re-execute a receipt and compare
    Replay(ReplayArgs),
    /// Resume a suspended run, and decide on its held effects
    Resume(ResumeArgs),
    /// List suspended runs
    #[command(after_help = "Examples:\n  toolcell suspended\n  toolcell suspended --json")]
    Suspended,
    /// Verify a tool: examples, determinism, generated inputs
    Verify(VerifyArgs),
    /// List the stored tools
    List(ListArgs),
    /// Suggest whether to create a tool for a task
    Reflect(ReflectArgs),
    /// Search tools by name, tags, description and parameters
    Search(SearchArgs),
    /// Show a tool's metadata, findings, permissions, history and source
    Show(ShowArgs),
    /// Delete a tool (can be undone)
    Delete(DeleteArgs),
    /// Undo a deletion
    Undelete(UndeleteArgs),
    /// Go back to an earlier version of a tool
    #[command(name = "rollback")]
    RollBack(RollBackArgs),
    /// Mark a tool as deprecated, with its successor
    Deprecate(DeprecateArgs),
    /// Show the cost and savings of each tool
    #[command(after_help = "Examples:\n  toolcell ledger\n  toolcell ledger --json")]
    Ledger,
    /// Deprecate unused, failing, superseded and duplicate tools
    Retire(RetireArgs),
    /// Run a source file once, without storing it
    Exec(ExecArgs),
    /// Run a tool once and show its fuel use by function and by line
    Profile(ProfileArgs),
    /// Analyze sources for safety, quality and required capabilities, without running them
    Check(CheckArgs),
    /// Run tool tests and check their fuel budgets
    Test(TestArgs),
    /// Rebase test budgets, or derive limits from recorded runs
    Budget(BudgetArgs),
    /// JSON-lines server on standard input (run, analyze, reflect)
    #[command(
        after_help = "Examples:\n  echo '{\"id\": 1, \"op\": \"run\", \"source\": \"const execute = ({ n }) => 2 * n\", \"params\": {\"n\": 21}}' | toolcell batch\n\n\
        The fields of a request are op (run, analyze or reflect), id, source, lang (js or ts), params or paramsJson, seed,\n\
        analysis (on or off), limits (fuel, timeoutMs, memoryMb, outputBytes, consoleBytes); of reflect they are\n\
        taskDescription, lastToolResult, failedAttempts and history."
    )]
    Batch(SandboxArgs),
    /// Run the MCP server, or configure a client to use it
    Mcp(McpArgs),
    /// Serve a library that several nodes share
    Node(NodeArgs),
    /// Make Toolcell a part of an agent: pi, oh-my-pi, GitHub Copilot or Claude Code
    Adapter(AdapterArgs),
    /// Check what this machine supports, that a call works, and the state of the store
    Doctor(DoctorArgs),
    /// Check the store, and repair it
    Fsck(FsckArgs),
    /// Delete old tools, unreferenced objects and expired data
    Gc(GcArgs),
    /// Export tools to a bundle file
    Export(ExportArgs),
    /// Import tools from a bundle file
    Import(ImportArgs),
    /// Query the audit log, or verify its integrity
    Audit(AuditArgs),
    /// Review and decide pending approvals
    Approvals(ApprovalsArgs),
    /// Grant capabilities to a tool, and approve it with them
    Grant(GrantArgs),
    /// List MCP servers, and review and trust their tools
    Servers(ServersArgs),
    /// Show the flow rules, explain what they allow a tool, and list or clear what callers have received
    Flows(FlowsArgs),
    /// Serve a web page on this machine: review tools, look at runs
    Ui(UiArgs),
    /// Decide whether a call of another program's tool may run
    Decide(DecideArgs),
    /// Show, check and trust policy files
    Config(ConfigArgs),
    /// Create a policy file from a template
    Init(InitArgs),
    /// Print TypeScript declarations of what the code of a tool sees
    Types(TypesArgs),
    /// Print the JSON Schema of what a command prints with --json
    Schema(SchemaArgs),
    /// Print a shell completion script, which also completes tool names
    Completions(CompletionsArgs),
    /// Print the manual pages
    Man(ManArgs),
}

impl Command {
    /// Whether the environment affects the command, so that a value that is not understood stops
    /// it. The others describe the program.
    pub(crate) fn obeys_environment(&self) -> bool {
        !matches!(
            self,
            Self::Types(TypesArgs { tools: false, servers: false })
                | Self::Schema(_)
                | Self::Completions(_)
                | Self::Man(_)
        )
    }

    /// Whether the command works under the policy, so that an invalid policy file stops it.
    pub(crate) fn needs_policy(&self) -> bool {
        match self {
            Self::Create(_)
            | Self::Adopt(_)
            | Self::Run(_)
            | Self::Resume(_)
            | Self::Suspended
            | Self::Verify(_)
            | Self::List(_)
            | Self::Reflect(_)
            | Self::Search(_)
            | Self::Show(_)
            | Self::Delete(_)
            | Self::Undelete(_)
            | Self::RollBack(_)
            | Self::Deprecate(_)
            | Self::Ledger
            | Self::Retire(_)
            | Self::Exec(_)
            | Self::Profile(ProfileArgs { command: None, .. })
            | Self::Batch(_)
            | Self::Mcp(McpArgs { command: None, .. })
            | Self::Node(NodeArgs { command: None, .. })
            | Self::Import(_)
            | Self::Approvals(_)
            | Self::Grant(_)
            | Self::Servers(_)
            | Self::Flows(_)
            | Self::Ui(_)
            | Self::Types(TypesArgs { tools: true, .. } | TypesArgs { servers: true, .. }) => true,
            Self::Replay(_)
            | Self::Test(_)
            | Self::Budget(_)
            | Self::Profile(_)
            | Self::Check(_)
            | Self::Mcp(_)
            | Self::Node(_)
            | Self::Doctor(_)
            | Self::Fsck(_)
            | Self::Gc(_)
            | Self::Export(_)
            | Self::Audit(_)
            | Self::Adapter(_)
            // Its errors are decisions.
            | Self::Decide(_)
            | Self::Config(_)
            | Self::Init(_)
            | Self::Types(TypesArgs { tools: false, servers: false })
            | Self::Schema(_)
            | Self::Completions(_)
            | Self::Man(_) => false,
        }
    }

    /// Whether the command needs a store directory.
    pub(crate) fn needs_store_dir(&self) -> bool {
        let works_without = matches!(self, Self::Reflect(_) | Self::Exec(_) | Self::Profile(_) | Self::Batch(_));
        let is_on_store = matches!(
            self,
            Self::Fsck(_)
                | Self::Gc(_)
                | Self::Export(_)
                | Self::Audit(_)
                | Self::Node(NodeArgs { command: Some(NodeCommand::Migrate { .. }), .. })
        );
        is_on_store || self.needs_policy() && !works_without
    }
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  toolcell exec average.js '{\"numbers\": [1, 2, 4.5]}'\n  toolcell exec greet.ts name=Ada times:=3\n  \
    echo 'const execute = () => 6 * 7' | toolcell exec -\n  \
    toolcell exec tool.js @params.json --fuel 1000000 --json\n  \
    toolcell exec fetch.ts --grant net=api.example.com --grant timers\n\n\
    Exit status: 0 done, 1 the tool failed, 2 usage, 3 refused by the analysis, 4 no such file, 5 a limit was hit, 6 integrity, 70 a bug, \
    130 interrupted"
)]
pub(crate) struct ExecArgs {
    /// A TypeScript or JavaScript file, or - for standard input
    pub(crate) file: String,

    /// Parameters: a JSON object, @FILE, - for standard input, or KEY=VALUE
    #[arg(value_name = "PARAMS|KEY=VALUE")]
    pub(crate) params: Vec<String>,

    /// The tool to run, if the source is a factory of several
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// Grant a capability, beside what `grants.drafts` in the policy grants: timers, clock, random,
    /// net=HOST, net=HOST:PORT, kv=SPACE, files=NAME:PATH, files=NAME:PATH:write,
    /// secrets=NAME@HOST, tools=NAME, servers=NAME.TOOL
    #[arg(long, value_name = "GRANT")]
    pub(crate) grant: Vec<String>,

    /// Run it even with a critical finding: the sandbox is the protection, not the analysis
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
    Requested capabilities are also read from the JSON file beside the source: `capabilities` in tool.json.\n\
    Exit status: 0 all sources pass, 2 usage, 3 a source is refused, 4 no such file")]
pub(crate) struct CheckArgs {
    /// Files, folders, or - for standard input
    #[arg(required = true)]
    pub(crate) paths: Vec<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Capabilities that the tools request: net, timers, clock, random, kv, files, secrets, tools
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    capabilities: Option<Vec<String>>,

    /// Print only what rejects a tool, and the summary line
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl CheckArgs {
    /// Returns the capabilities given with `--capabilities`, if any.
    pub(crate) fn capabilities(&self) -> Result<Option<Capabilities>, CliError> {
        let names = self.capabilities.as_deref().map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        names.map(|names| parse_capabilities(&names)).transpose()
    }
}

/// Parses the names of capabilities.
pub(crate) fn parse_capabilities(names: &[&str]) -> Result<Capabilities, CliError> {
    let found: Result<Vec<Capability>, CliError> = names
        .iter()
        .map(|name| Capability::from_name(name).ok_or_else(|| CliError::UnknownCapability { name: (*name).to_owned() }))
        .collect();
    found.map(Capabilities::unscoped)
}

/// The output format of findings.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// Human-readable, with source lines
    Text,
    /// One JSON object per source
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Fuel limit: about one unit per Wasm instruction [default: 250000000000]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,

    /// Deadline in milliseconds of wall-clock time [default: 30000]
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u64>,

    /// Memory limit in MiB [default: 64]
    #[arg(long, value_name = "MIB")]
    memory_mb: Option<u64>,

    /// Result limit in bytes [default: 1048576]
    #[arg(long, value_name = "BYTES")]
    output_bytes: Option<u64>,

    /// Console output limit in bytes [default: 65536]
    #[arg(long, value_name = "BYTES")]
    console_bytes: Option<u64>,
}

impl LimitArgs {
    /// Returns the limits given on the command line. The policy supplies the others.
    pub(crate) const fn overrides(self) -> toolcell::LimitOverrides {
        let Self { fuel, timeout_ms, memory_mb, output_bytes, console_bytes } = self;
        toolcell::LimitOverrides { fuel, timeout_ms, memory_mb, output_bytes, console_bytes, operations: None }
    }
}

#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct SandboxArgs {
    /// Guest image to use
    #[arg(long, value_name = "IMAGE", default_value = "auto")]
    image: ImageName,

    /// Run calls in confined worker processes (seccomp, Landlock), as a second layer around the
    /// sandbox [default: true if `TOOLCELL_JAIL` is on]
    #[arg(long)]
    jail: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ImageName {
    /// The first of the others that works on this machine
    Auto,
    /// Fastest; reserves 4 GiB of address space per call
    Roomy,
    /// Bounds-checked; reserves no more address space than memory
    Bounded,
    /// No executable pages; about 30 times slower
    Interpreted,
}

impl SandboxArgs {
    /// Returns a sandbox configuration with one call slot.
    ///
    /// # Errors
    /// `usage` if `TOOLCELL_JAIL` is neither on nor off.
    pub(crate) fn config(self) -> Result<SandboxConfig, CliError> {
        let images = match self.image {
            ImageName::Auto => ImageKind::FOR_OWN_PROCESS.to_vec(),
            ImageName::Roomy => vec![ImageKind::Roomy],
            ImageName::Bounded => vec![ImageKind::Bounded],
            ImageName::Interpreted => vec![ImageKind::Interpreted],
        };
        let from_environment = Self::config_from_environment()?;
        let jail = from_environment.jail.or_else(|| self.jail.then_some(Program::This));
        Ok(SandboxConfig { images, jail, ..from_environment })
    }

    /// Returns a one-slot sandbox configuration for commands without sandbox options that may run
    /// tools, for example to compare them.
    ///
    /// # Errors
    /// `usage` if `TOOLCELL_JAIL` is neither on nor off.
    pub(crate) fn config_from_environment() -> Result<SandboxConfig, CliError> {
        let jail = environment::switch(environment::JAIL)?.then_some(Program::This);
        Ok(SandboxConfig { slots: 1, jail, ..SandboxConfig::default() })
    }

    /// Returns a one-slot sandbox configuration for commands that run no tool.
    pub(crate) fn single_call_config() -> SandboxConfig {
        SandboxConfig { slots: 1, ..SandboxConfig::default() }
    }
}

/// Parses the words of a command, the first of which is the program's name.
///
/// # Errors
/// A usage error, `--help` or `--version`, for [`print_usage_error`].
pub(crate) fn parse(words: &[OsString]) -> Result<Args, clap::Error> {
    Args::try_parse_from(words)
}

/// Returns the command tree with its help in a language.
pub(crate) fn command(lang: Lang) -> clap::Command {
    help::localize(Args::command(), lang)
}

/// Returns the command tree without the command `help`, with its help in a language.
pub(crate) fn command_without_help(lang: Lang) -> clap::Command {
    help::localize(Args::command().disable_help_subcommand(true), lang)
}
