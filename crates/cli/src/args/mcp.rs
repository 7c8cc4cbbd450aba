//! What can be typed about the MCP server, and about the clients that use it.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use toolcell_mcp::client::{Client, NAME};

use super::SandboxArgs;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  toolcell mcp config --client claude-code --write\n  toolcell mcp\n  \
    toolcell mcp --http 127.0.0.1:8080\n  toolcell mcp --http 0.0.0.0:8080 --tokens tokens.toml --allow-host tools.example.com\n\n\
    Without --http the server speaks with the client that started it, over standard input and output.\n\
    Environment: TOOLCELL_MCP_TOKEN is the one token for --http; TOOLCELL_LOG what is logged to standard error, such as `debug`;\n\
    OTEL_EXPORTER_OTLP_ENDPOINT, and the other variables of OpenTelemetry, where traces are sent.\n\
    Exit status: 0 the client is gone or somebody ended the server, 2 usage"
)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,

    #[command(flatten)]
    pub(crate) serve: McpServeArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpServeArgs {
    /// Serve over HTTP: HOST:PORT, or a port of this machine alone; 0 takes any that is free
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,

    /// Offer so many approved tools as tools of their own
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) publish: usize,

    /// A file of the principals that may come in, and their tokens
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) tokens: Option<PathBuf>,

    /// Another name that the server goes by: NAME or NAME:PORT
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,

    /// An origin whose pages may call: SCHEME://HOST:PORT
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,

    /// How many requests a principal may make in a minute
    #[arg(long, value_name = "N", requires = "http")]
    pub(crate) rate: Option<NonZeroU32>,

    /// How many runs of a principal go on at once [default: one less than there are cores where there are tokens, else as many as there is room for]
    #[arg(long, value_name = "N")]
    pub(crate) share: Option<NonZeroUsize>,

    /// For how many seconds what is under way may go on when the server is to end
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) grace: u64,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Print what a client's configuration needs to use the server, or put it there
    Config(McpConfigArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell mcp config --client claude-code --write\n  \
    toolcell mcp config --client codex --user --write\n  toolcell mcp config --client vscode --remove\n  \
    toolcell mcp config --client cursor --http http://127.0.0.1:8080/mcp --token-env TOOLCELL_TOKEN\n\n\
    The file of a project is looked for in the current folder, or in that of --project. What is in there already keeps its\n\
    comments, its order and every other byte. --remove takes out what --write put in, and nothing that is not ours; a file\n\
    that had nothing else in it goes as well. `--dir DIR` becomes a part of the command.\n\
    Exit status: 0 done, or there is nothing to remove; 2 the file is not understood, or has another server of that name")]
pub(crate) struct McpConfigArgs {
    /// The client
    #[arg(long, value_name = "CLIENT", value_parser = client())]
    pub(crate) client: Client,

    /// Put it into the client's file
    #[arg(long, conflicts_with = "remove")]
    pub(crate) write: bool,

    /// Take it out of the client's file
    #[arg(long)]
    pub(crate) remove: bool,

    /// Treat an entry of this name as ours, though it leads to another server
    #[arg(long)]
    pub(crate) force: bool,

    /// The name of the server in the client
    #[arg(id = "server", long = "name", value_name = "NAME", default_value = NAME)]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) place: McpFileArgs,

    /// Use a server that runs at this address, in place of one that the client starts
    #[arg(long, value_name = "URL")]
    pub(crate) http: Option<String>,

    /// The environment variable of the client's in which the token for that server is
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    pub(crate) token_env: Option<String>,

    /// Let the server offer so many approved tools as tools of their own
    #[arg(long, value_name = "N", conflicts_with = "http")]
    pub(crate) publish: Option<u32>,
}

/// Which file of the client it is about.
#[derive(Debug, clap::Args)]
pub(crate) struct McpFileArgs {
    /// The file for all projects of this user, in place of this project's
    #[arg(long, conflicts_with = "file")]
    pub(crate) user: bool,

    /// Another file of the same form
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// A client by its name.
fn client() -> impl clap::builder::TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::name))
        .try_map(|name| Client::named(&name).ok_or("there is no such client"))
}
