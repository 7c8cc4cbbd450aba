//! `mcp`: serves the operations, to the client that started the process or over HTTP.
//!
//! Invariant: a token is read from a file that nobody else reads, or from the environment, and never from an argument.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolcell::{Lang, Protected, SandboxConfig, Toolbox};
use toolcell_mcp::http::{Bearers, BearersError, HttpConfig, MetricsToken, Share};
use toolcell_mcp::telemetry::{self, Export};
use toolcell_mcp::{Principal, Server, Settings, serve_http, serve_stdio};

use crate::args::McpServeArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rules::Rules;
use crate::{Streams, ends_by_itself, input, open};

/// The folder of the stores of principals.
const PRINCIPALS: &str = "principals";
/// The longest file of tokens, in bytes.
const TOKENS_LIMIT: u64 = 1 << 20;
/// How many calls run at once, at least and at most; and how many more than all shares together.
const SLOTS: (usize, usize) = (8, 64);
const SPARE: usize = 2;
/// The variable that holds the one token.
const TOKEN: &str = "TOOLCELL_MCP_TOKEN";
/// The variable that holds the token of whoever collects metrics.
const METRICS_TOKEN: &str = "TOOLCELL_METRICS_TOKEN";

pub(crate) fn run(
    args: &McpServeArgs,
    rules: &Rules,
    dir: &Path,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    ends_by_itself();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let token = args.http.as_ref().and_then(|_| variable(TOKEN));
    let (address, bearers) = (args.http.as_deref().map(address).transpose()?, bearers(args, token)?);
    let metrics = args.http.as_ref().and_then(|_| variable(METRICS_TOKEN));
    let metrics = metrics.map(|token| metrics_token(&token, &bearers)).transpose()?;
    let private = private(args, rules, dir);
    let settings = Settings { lang, publish: args.publish, private, ..shares(args, &bearers) };
    let slots = slots(&settings, &bearers);
    let server = server(args, settings, slots, rules, dir)?;
    let filter = variable("TOOLCELL_LOG").unwrap_or_else(|| telemetry::FILTER.to_owned());
    let telemetry = telemetry::install(&filter, export(variable))
        .map_err(|error| Failure::said(error.code(), error.to_string(), error.hint()))?;
    let grace = Duration::from_secs(args.grace);
    match address {
        None => {
            serve_stdio(server, grace).map_err(|error| Failure::said(error.code(), error.to_string(), error.hint()))?;
        }
        Some(address) => {
            let config = HttpConfig {
                bearers,
                metrics,
                hosts: args.allow_host.clone(),
                origins: args.allow_origin.clone(),
                rate: args.rate,
                grace,
                ..HttpConfig::default()
            };
            // Where nobody reads it, it is served all the same.
            let told = |address: SocketAddr| drop(writeln!(streams.errors, "listening on http://{address}/mcp"));
            serve_http(server, address, config, told)
                .map_err(|error| Failure::said(error.code(), error.to_string(), error.hint()))?;
        }
    }
    drop(telemetry);
    Ok(Exit::Done)
}

/// Whether traces are sent, by the variables of the specification of OpenTelemetry.
fn export(variable: impl Fn(&str) -> Option<String>) -> Export {
    let says = |name: &str, what: &str| variable(name).is_some_and(|value| value.eq_ignore_ascii_case(what));
    let named = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
    let wanted = says("OTEL_TRACES_EXPORTER", "otlp") || named.into_iter().any(|name| variable(name).is_some());
    if !wanted || says("OTEL_SDK_DISABLED", "true") || says("OTEL_TRACES_EXPORTER", "none") {
        return Export::Nowhere;
    }
    Export::Otlp
}

/// A server with a store for each principal: that of the directory itself for whoever is local. All share one sandbox.
fn server(args: &McpServeArgs, settings: Settings, slots: usize, rules: &Rules, dir: &Path) -> Result<Server, Failure> {
    let sandbox = SandboxConfig { slots, ..args.sandbox.config() };
    let mut config = open::config(sandbox, rules)?;
    // The store of one principal is as far from the tools of another one as from its own. Tokens are those of all principals.
    config.protected.push(Protected::hidden("the stores", dir));
    config.protected.extend(args.tokens.iter().map(|path| Protected::hidden("the file of tokens", path)));
    // What does not work is said now, and not when the first request comes.
    let local = Arc::new(Toolbox::open(dir, config.clone())?);
    let dir = PathBuf::from(dir);
    Ok(Server::new(settings, move |principal| {
        if principal.is_local() {
            return Ok(Arc::clone(&local));
        }
        let toolbox = local.beside(&dir.join(PRINCIPALS).join(principal.as_str()), config.clone())?;
        Ok(Arc::new(toolbox))
    }))
}

/// Where things are on this machine, which is nothing that a client of another one is told.
fn private(args: &McpServeArgs, rules: &Rules, dir: &Path) -> Vec<PathBuf> {
    let cwd = std::env::current_dir().ok();
    let absolute = |path: &Path| cwd.as_ref().map_or_else(|| path.to_owned(), |cwd| cwd.join(path));
    let policies = rules.user.iter().chain(&rules.project).map(|file| file.path().to_owned());
    let files = policies.chain(args.tokens.clone()).chain(std::env::current_exe().ok());
    std::iter::once(dir.to_owned()).chain(files).map(|path| absolute(&path)).chain(cwd.clone()).collect()
}

/// How many calls run at once: as many as all shares together, so that whoever has a turn has a slot as well, and some for
/// what is analysed meanwhile.
fn slots(settings: &Settings, bearers: &Bearers) -> usize {
    let share = |principal: &Principal| settings.shares.get(principal).copied().or(settings.share);
    // A principal has one turn more than its share, for what is no run.
    let of_all = bearers.principals().filter_map(|(principal, _)| share(principal)).map(|share| share.get() + 1);
    let of_one = settings.share.map_or(0, |share| share.get() + 1);
    (of_all.sum::<usize>().max(of_one) + SPARE).clamp(SLOTS.0, SLOTS.1)
}

/// How many runs of each principal go on at once. Where there are several, each leaves one core to the others.
fn shares(args: &McpServeArgs, bearers: &Bearers) -> Settings {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let several = bearers.principals().count() > 1;
    let of_one = several.then(|| NonZeroUsize::new(cores - 1).unwrap_or(NonZeroUsize::MIN));
    let said = |(principal, share): (&Principal, Share)| {
        let runs = usize::try_from(share.concurrent?.get()).ok().and_then(NonZeroUsize::new)?;
        Some((principal.clone(), runs))
    };
    Settings {
        share: args.share.or(of_one),
        shares: bearers.principals().filter_map(said).collect(),
        ..Settings::default()
    }
}

fn metrics_token(token: &str, bearers: &Bearers) -> Result<MetricsToken, Failure> {
    if bearers.metrics().is_some() {
        return Err(Failure::Typed {
            message: format!("the file of tokens has `[metrics]`, and {METRICS_TOKEN} is set"),
            hint: "unset the variable, or leave `[metrics]` out",
        });
    }
    let parsed = MetricsToken::parse(token).and_then(|metrics| bearers.differ_from(&metrics).map(|()| metrics));
    parsed.map_err(|error| refused(&error, METRICS_TOKEN))
}

fn refused(error: &BearersError, place: &str) -> Failure {
    Failure::said(error.code(), format!("{place}: {error}"), error.hint())
}

/// Who may come in.
fn bearers(args: &McpServeArgs, token: Option<String>) -> Result<Bearers, Failure> {
    match (&args.tokens, token) {
        (Some(path), None) => {
            let shown = path.display().to_string();
            let failed = |error| Failure::File { path: shown.clone(), error };
            let mode = path.metadata().map_err(failed)?.permissions().mode();
            if mode & 0o077 != 0 {
                let message = format!("{shown} can be read by others (mode {:o})", mode & 0o777);
                return Err(Failure::said("tokens-readable", message, "make it yours alone: chmod 600"));
            }
            Bearers::read(&input::file(path, TOKENS_LIMIT)?).map_err(|error| refused(&error, &shown))
        }
        (None, Some(token)) => Bearers::single(&token).map_err(|error| refused(&error, TOKEN)),
        (None, None) => Ok(Bearers::Nobody),
        (Some(_), Some(_)) => Err(Failure::Typed {
            message: format!("there is a file of tokens, and {TOKEN} is set"),
            hint: "unset the variable, or leave --tokens out",
        }),
    }
}

/// Where to listen: `HOST:PORT`, or a port of this machine alone.
fn address(said: &str) -> Result<SocketAddr, Failure> {
    let alone = said.parse::<u16>().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let found = alone.ok().or_else(|| said.to_socket_addrs().ok()?.next());
    found.ok_or_else(|| Failure::Typed {
        message: format!("`{}` is no address to listen on", said.escape_debug()),
        hint: "write 127.0.0.1:8080, localhost:8080, [::1]:8080, or 8080",
    })
}
