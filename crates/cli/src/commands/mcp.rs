//! `mcp`: runs the MCP server over standard input and output, or over HTTP.
//!
//! Invariant: while serving, only protocol messages go to standard output. A token is read from a
//! private file or from the environment, never from an argument.

mod audit_heads;
pub(crate) mod config;
mod hand_over;
mod pages;
mod presence;
mod toolboxes;

use std::io::IsTerminal as _;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolcell::{GUEST_DIGEST, ProtectedPath, SandboxConfig};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, message, msgid, tr};
use toolcell_mcp::http::{
    HandOver, HealthHooks, HttpConfig, MetricsToken, PrincipalLimits, TokenStore, TokenStoreError,
};
use toolcell_mcp::telemetry::{self, Export};
use toolcell_mcp::{Principal, Server, ServerSettings, serve_http, serve_stdio};

use self::audit_heads::AuditHeads;
use self::hand_over::NodeHandOver;
use self::presence::Presence;
use self::toolboxes::Toolboxes;
use crate::args::McpServeArgs;
use crate::context::Context;
use crate::environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::interrupt::set_handles_interrupts;
use crate::library::NodeLibrary;
use crate::node_report::NodeSetup;
use crate::toolbox;

/// Maximum size of the token file, in bytes.
const MAX_TOKENS_BYTES: u64 = 1 << 20;
/// Minimum and maximum number of call slots; [`SPARE_SLOTS`] is the number of slots beyond the sum
/// of all shares.
const SLOT_RANGE: (usize, usize) = (8, 64);
const SPARE_SLOTS: usize = 2;
/// How long a node answers after SIGTERM by default, in seconds: as long as load balancers usually take to see that it is not ready.
const NODE_DRAIN_SECONDS: u64 = 5;
/// The environment variable with the token of a single-token server.
const TOKEN_VARIABLE: &str = "TOOLCELL_MCP_TOKEN";
/// The environment variable with the token for the metrics endpoint.
const METRICS_TOKEN_VARIABLE: &str = "TOOLCELL_METRICS_TOKEN";

/// Where the calls run that reach a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// On this node.
    Here,
    /// On the node that has their tool in memory.
    HandedOver,
}

/// The shared library that a node serves.
pub(crate) struct ServedLibrary {
    pub(crate) library: NodeLibrary,
    pub(crate) calls: Calls,
    /// How often the heads of the audit logs are published, if it was chosen.
    pub(crate) head_period: Option<Duration>,
}

/// Serves. A node serves the shared library that is given.
pub(crate) fn run(
    args: &McpServeArgs,
    node: Option<ServedLibrary>,
    context: &mut Context<'_>,
) -> Result<Exit, CliError> {
    let heads = AuditHeads::new(node.as_ref().and_then(|node| node.head_period));
    let (library, calls) = node.map(|node| (node.library, node.calls)).unzip();
    set_handles_interrupts();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let token = args.http.as_ref().map_or(Ok(None), |_| environment::token(TOKEN_VARIABLE))?;
    let (address, bearers) = (args.http.as_deref().map(parse_address).transpose()?, read_tokens(args, token)?);
    let metrics = args.http.as_ref().map_or(Ok(None), |_| environment::token(METRICS_TOKEN_VARIABLE))?;
    let metrics = metrics.map(|token| parse_metrics_token(&token, &bearers)).transpose()?;
    let settings = ServerSettings {
        lang: context.lang,
        disabled_operations: args.disable.iter().copied().collect(),
        max_published: args.publish,
        redacted_paths: private_paths(args, context)?,
        policy_files: policy_files(context)?,
        ..share_settings(args, &bearers)
    };
    let setup = library.as_ref().map(|_| node_setup(&settings.policy_files)).transpose()?;
    let drain = args.drain.unwrap_or(if library.is_some() { NODE_DRAIN_SECONDS } else { 0 });
    let slots = slot_count(&settings, &bearers) + if args.ui { toolcell_ui::MAX_RUNS } else { 0 };
    let filter = environment::text("TOOLCELL_LOG")?.filter(|filter| !filter.is_empty());
    let filter = filter.unwrap_or_else(|| telemetry::DEFAULT_LOG_FILTER.to_owned());
    let telemetry = telemetry::install(&filter, trace_export(variable))
        .map_err(|error| CliError::coded(error.code(), error.localize(), error.hint()))?;
    let hand_over = library.as_ref().filter(|_| calls == Some(Calls::HandedOver)).and_then(NodeLibrary::wire);
    let hand_over = hand_over.map(|(wire, secret)| Arc::new(NodeHandOver::new(wire, secret)));
    let shared_rates = library.as_ref().map(NodeLibrary::rates);
    let toolboxes = open_toolboxes(args, slots, library, context)?;
    let [followed, asked, degraded, measured] = [(); 4].map(|()| Arc::clone(&toolboxes));
    let (pages, opened) = match address.filter(|_| args.ui) {
        Some(address) => {
            pages::build(address, &bearers, &toolboxes, context.lang).map(|(pages, way)| (Some(pages), Some(way)))?
        }
        None => (None, None),
    };
    let server = Server::new(settings, move |principal| Ok(toolboxes.open(principal)?));
    let bound = Arc::new(OnceLock::new());
    let presence =
        setup.map(|setup| Presence::new(setup, Arc::clone(&bound), server.calls().clone(), hand_over.clone()));
    let follower = presence.and_then(|presence| followed.follow_library(presence, heads));
    let grace = Duration::from_secs(args.grace);
    match address {
        None => {
            if std::io::stdin().is_terminal() {
                let text = message!("waiting for a client on standard input; `toolcell mcp config` connects one");
                context.streams.print_note(&text, context.lang)?;
            }
            serve_stdio(server, grace)
                .map_err(|error| CliError::coded(error.code(), error.localize(), error.hint()))?;
        }
        Some(address) => {
            let config = HttpConfig {
                tokens: bearers,
                metrics_token: metrics,
                allowed_hosts: args.allow_host.clone(),
                allowed_origins: args.allow_origin.clone(),
                requests_per_minute: args.rate,
                shared_rates,
                hand_over: hand_over.map(|hand_over| -> Arc<dyn HandOver> { hand_over }),
                drain: Duration::from_secs(drain),
                shutdown_grace: grace,
                pages,
                health: HealthHooks::default()
                    .with_ready(move || asked.check_libraries())
                    .with_degraded(move || degraded.describe_degraded())
                    .with_metrics(move || measured.render_metrics()),
                ..HttpConfig::default()
            };
            let lang = context.lang;
            // If the write fails, the server runs all the same.
            let print_address = |address: SocketAddr| {
                // It is told once.
                let _ = bound.set(address);
                let text = tr!(lang, "listening on {url}", url = format!("http://{address}/mcp"));
                drop(writeln!(context.streams.errors, "{text}"));
                if let Some(way) = opened {
                    drop(writeln!(context.streams.errors, "{}", way.to_text(address, lang)));
                }
            };
            serve_http(server, address, config, print_address)
                .map_err(|error| CliError::coded(error.code(), error.localize(), error.hint()))?;
        }
    }
    drop(follower);
    drop(telemetry);
    Ok(Exit::Done)
}

/// Returns whether traces are exported, from the standard OpenTelemetry environment variables.
fn trace_export(variable: impl Fn(&str) -> Option<String>) -> Export {
    let says = |name: &str, what: &str| variable(name).is_some_and(|value| value.eq_ignore_ascii_case(what));
    let named = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
    let wanted = says("OTEL_TRACES_EXPORTER", "otlp") || named.into_iter().any(|name| variable(name).is_some());
    if !wanted || says("OTEL_SDK_DISABLED", "true") || says("OTEL_TRACES_EXPORTER", "none") {
        return Export::Disabled;
    }
    Export::Otlp
}

/// Opens the store in the directory itself. Those of principals are opened when they are first asked for.
fn open_toolboxes(
    args: &McpServeArgs,
    slots: usize,
    library: Option<NodeLibrary>,
    context: &Context<'_>,
) -> Result<Arc<Toolboxes>, CliError> {
    let dir = context.store_dir()?;
    let sandbox = SandboxConfig { slots, ..args.sandbox.config()? };
    let mut config = toolbox::build_config(sandbox, context.policy()?)?;
    // Hide all stores and the token file from tools: neither another principal's store nor the own
    // one is accessible.
    config.protected.push(ProtectedPath::hidden(msgid!("the stores"), dir));
    config.protected.extend(args.tokens.iter().map(|path| ProtectedPath::hidden(msgid!("the token file"), path)));
    // Fail at startup, not at the first request.
    Ok(Arc::new(Toolboxes::open_local(dir, config, library)?))
}

/// Returns the paths of the policy files.
fn policy_files(context: &Context<'_>) -> Result<Vec<PathBuf>, CliError> {
    let policy = context.policy()?;
    let cwd = std::env::current_dir()?;
    Ok(policy.user.iter().chain(&policy.project).map(|file| cwd.join(file.path())).collect())
}

/// Returns what should be the same on all nodes.
fn node_setup(policy_files: &[PathBuf]) -> Result<NodeSetup, CliError> {
    let mut policy = blake3::Hasher::new();
    for path in policy_files {
        let failed = |error| CliError::File { path: path.display().to_string(), error };
        let text = std::fs::read(path).map_err(failed)?;
        policy.update(&(text.len() as u64).to_le_bytes()).update(&text);
    }
    Ok(NodeSetup {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        guest: GUEST_DIGEST.to_owned(),
        policy: policy.finalize().to_hex().to_string(),
    })
}

/// Returns the paths of this machine that answers to clients must not contain.
fn private_paths(args: &McpServeArgs, context: &Context<'_>) -> Result<Vec<PathBuf>, CliError> {
    let (policy, dir) = (context.policy()?, context.store_dir()?);
    let cwd = std::env::current_dir().ok();
    let absolute = |path: &Path| cwd.as_ref().map_or_else(|| path.to_owned(), |cwd| cwd.join(path));
    let policies = policy.user.iter().chain(&policy.project).map(|file| file.path().to_owned());
    let files = policies.chain(args.tokens.clone()).chain(std::env::current_exe().ok());
    Ok(std::iter::once(dir.to_owned()).chain(files).map(|path| absolute(&path)).chain(cwd.clone()).collect())
}

/// Returns the number of call slots: the sum of all shares, so that a principal within its share
/// always gets a slot, and some spare slots for analyses.
fn slot_count(settings: &ServerSettings, bearers: &TokenStore) -> usize {
    let share = |principal: &Principal| {
        settings.concurrent_runs_by_principal.get(principal).copied().or(settings.concurrent_runs)
    };
    // Each principal gets one slot beyond its share, for work that is not a run.
    let of_all = bearers.principals().filter_map(|(principal, _)| share(principal)).map(|share| share.get() + 1);
    let of_one = settings.concurrent_runs.map_or(0, |share| share.get() + 1);
    (of_all.sum::<usize>().max(of_one) + SPARE_SLOTS).clamp(SLOT_RANGE.0, SLOT_RANGE.1)
}

/// Sets the number of concurrent runs per principal. With several principals, the default leaves
/// one core to the others.
fn share_settings(args: &McpServeArgs, bearers: &TokenStore) -> ServerSettings {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let several = bearers.principals().count() > 1;
    let of_one = several.then(|| NonZeroUsize::new(cores - 1).unwrap_or(NonZeroUsize::MIN));
    let share_of = |(principal, share): (&Principal, PrincipalLimits)| {
        let runs = usize::try_from(share.concurrent_runs?.get()).ok().and_then(NonZeroUsize::new)?;
        Some((principal.clone(), runs))
    };
    ServerSettings {
        concurrent_runs: args.share.or(of_one),
        concurrent_runs_by_principal: bearers.principals().filter_map(share_of).collect(),
        ..ServerSettings::default()
    }
}

fn parse_metrics_token(token: &str, bearers: &TokenStore) -> Result<MetricsToken, CliError> {
    if bearers.metrics().is_some() {
        return Err(CliError::usage(
            message!("the token file has `[metrics]`, and {variable} is set too", variable = METRICS_TOKEN_VARIABLE),
            msgid!("unset the variable, or remove `[metrics]`"),
        ));
    }
    let parsed = MetricsToken::parse(token).and_then(|metrics| bearers.check_distinct_from(&metrics).map(|()| metrics));
    parsed.map_err(|error| token_error(&error, METRICS_TOKEN_VARIABLE))
}

fn token_error(error: &TokenStoreError, place: &str) -> CliError {
    CliError::coded(error.code(), message!("{path}: {reason}", path = place, reason = error), error.hint())
}

/// Returns the accepted tokens.
fn read_tokens(args: &McpServeArgs, token: Option<String>) -> Result<TokenStore, CliError> {
    match (&args.tokens, token) {
        (Some(path), None) => {
            let shown = path.display().to_string();
            let text = input::read_secret_file(path, MAX_TOKENS_BYTES, ErrorCode::TokensReadable)?;
            TokenStore::parse(&text).map_err(|error| token_error(&error, &shown))
        }
        (None, Some(token)) => TokenStore::single(&token).map_err(|error| token_error(&error, TOKEN_VARIABLE)),
        (None, None) => Ok(TokenStore::Unauthenticated),
        (Some(_), Some(_)) => Err(CliError::usage(
            message!("--tokens is given, and {variable} is set too", variable = TOKEN_VARIABLE),
            msgid!("unset the variable, or omit --tokens"),
        )),
    }
}

/// Parses the address to listen on: `HOST:PORT`, or a port on the loopback address.
fn parse_address(address: &str) -> Result<SocketAddr, CliError> {
    let alone = address.parse::<u16>().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let found = alone.ok().or_else(|| address.to_socket_addrs().ok()?.next());
    found.ok_or_else(|| {
        CliError::usage(
            message!("`{address}` is not a valid listen address", address = address.escape_debug()),
            msgid!("use an address such as 127.0.0.1:8080, localhost:8080, [::1]:8080, or 8080"),
        )
    })
}
