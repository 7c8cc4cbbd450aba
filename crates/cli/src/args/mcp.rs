//! Arguments of `mcp` and `mcp config`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use toolcell_i18n::message;
use toolcell_mcp::BuiltinTool;

use super::SandboxArgs;
use super::usage_error::ValueError;
use crate::client_config::{Client, DEFAULT_NAME};

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  toolcell mcp config --client claude-code --write\n  toolcell mcp\n  \
    toolcell mcp --http 127.0.0.1:8080\n  toolcell mcp --http 0.0.0.0:8080 --tokens tokens.toml --allow-host tools.example.com\n  \
    toolcell mcp --http 8080 --ui\n\n\
    Without --http, the server talks to the client that started it, over standard input and output.\n\
    Environment: TOOLCELL_MCP_TOKEN sets a single bearer token for --http; TOOLCELL_LOG sets the log level on\n\
    standard error, such as `debug`; OTEL_EXPORTER_OTLP_ENDPOINT and the other OpenTelemetry variables configure tracing.\n\
    Exit status: 0 the client disconnected or the server was stopped, 2 usage"
)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,

    #[command(flatten)]
    pub(crate) serve: McpServeArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpServeArgs {
    /// Serve over HTTP: HOST:PORT, or a PORT on the loopback address; port 0 selects a free one
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,

    /// Expose up to N approved tools as MCP tools of their own
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) publish: usize,

    /// Switch off an operation, such as `run_code`: it is not listed, and calls of it are refused
    #[arg(long, value_name = "OPERATION", value_parser = operation_parser(), hide_possible_values = true)]
    pub(crate) disable: Vec<BuiltinTool>,

    /// TOML file of principals and their bearer tokens
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) tokens: Option<PathBuf>,

    /// Accept this host name in the Host header too: NAME or NAME:PORT
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,

    /// Accept browser requests from this origin: SCHEME://HOST:PORT
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,

    /// Serve the web page at /ui too: behind a one-time link, or for the operators of the token file
    #[arg(long, requires = "http")]
    pub(crate) ui: bool,

    /// Requests per minute allowed for each principal
    #[arg(long, value_name = "N", requires = "http")]
    pub(crate) rate: Option<NonZeroU32>,

    /// Concurrent runs allowed for each principal [default: the number of cores minus one if there
    /// are several principals, else no limit]
    #[arg(long, value_name = "N")]
    pub(crate) share: Option<NonZeroUsize>,

    /// Seconds to go on answering after SIGTERM, for load balancers to see at /readyz that the server is about to end [default: 0; of a
    /// node 5]
    #[arg(long, value_name = "SECONDS", requires = "http")]
    pub(crate) drain: Option<u64>,

    /// Seconds to let calls in progress finish on shutdown
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) grace: u64,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Print a client's configuration entry, or write it to the client's file
    Config(McpConfigArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell mcp config --client claude-code --write\n  \
    toolcell mcp config --client codex --user --write\n  toolcell mcp config --client vscode --remove\n  \
    toolcell mcp config --client cursor --http http://127.0.0.1:8080/mcp --token-env TOOLCELL_TOKEN\n\n\
    The project's file is in the current folder, or in the --project folder. Existing content is kept byte for byte,\n\
    including comments and order. --remove removes only the entry that --write added, and deletes the file if nothing\n\
    else is in it. `--dir DIR` becomes part of the command in the entry.\n\
    Exit status: 0 done, or nothing to remove; 2 the file cannot be parsed, or has another server with this name")]
pub(crate) struct McpConfigArgs {
    /// The MCP client
    #[arg(long, value_name = "CLIENT", value_parser = client_parser())]
    pub(crate) client: Client,

    /// Write the entry to the client's configuration file
    #[arg(long, conflicts_with = "remove")]
    pub(crate) write: bool,

    /// Remove the entry from the client's configuration file
    #[arg(long)]
    pub(crate) remove: bool,

    /// Replace or remove an entry of this name even if it points to another server
    #[arg(long)]
    pub(crate) force: bool,

    /// Name of the server in the client's configuration
    #[arg(id = "server", long = "name", value_name = "NAME", default_value = DEFAULT_NAME)]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) place: McpFileArgs,

    /// Connect to a running server at this URL, instead of letting the client start one
    #[arg(long, value_name = "URL")]
    pub(crate) http: Option<String>,

    /// Environment variable of the client that holds the bearer token
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    pub(crate) token_env: Option<String>,

    /// Let the server expose up to N approved tools as MCP tools of their own
    #[arg(long, value_name = "N", conflicts_with = "http")]
    pub(crate) publish: Option<u32>,
}

/// Selects the client's configuration file.
#[derive(Debug, clap::Args)]
pub(crate) struct McpFileArgs {
    /// Edit the user's global file instead of the project's
    #[arg(long, conflicts_with = "file")]
    pub(crate) user: bool,

    /// Edit this file, in the client's format
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// Returns a parser of operation names.
fn operation_parser() -> impl clap::builder::TypedValueParser<Value = BuiltinTool> {
    PossibleValuesParser::new(BuiltinTool::ALL.map(BuiltinTool::name))
        .try_map(|name| BuiltinTool::from_name(&name).ok_or_else(|| ValueError(message!("unknown operation"))))
}

/// Returns a parser of client names.
fn client_parser() -> impl clap::builder::TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::name))
        .try_map(|name| Client::from_name(&name).ok_or_else(|| ValueError(message!("unknown client"))))
}
