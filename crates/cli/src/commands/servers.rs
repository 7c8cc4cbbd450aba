//! `servers`: the MCP servers of the policy, which of their tools are trusted, and signing in to them.
//!
//! Invariant: what is trusted is what was shown. Texts of a server are escaped where a terminal shows them.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use toolcell::policy::{ServerDefinition, ServerTransport};
use toolcell::{Detail, ServerLogin, ServerLoginState, ServerLogout, ServerReview, ServerToolDefinition, Toolbox};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, tr};

use crate::args::{SandboxArgs, ServersArgs, ServersCommand};
use crate::browser;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::prompt;
use crate::render::table::{Column, Fit, Overflow, Table};

/// The length from which a declaration shortens a description, in characters.
const SHORTENED_CHARS: usize = 300;
/// Who trusts what the command line trusts.
const TRUSTED_BY: &str = "command-line";
/// Who signs in and out at the command line.
const SIGNED_IN_BY: &str = "command-line";

pub(crate) fn run(args: &ServersArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_toolbox(SandboxArgs::single_call_config())?;
    match args.command.as_ref().unwrap_or(&ServersCommand::List) {
        ServersCommand::List => list(&toolbox, context),
        ServersCommand::Diff { server } => diff(&toolbox.review_server(server)?, context),
        ServersCommand::Login { server, no_browser, timeout } => {
            let login = toolbox.login_server(server)?;
            sign_in(&login, server, *no_browser, Duration::from_secs(*timeout), context)
        }
        ServersCommand::Logout { server } => sign_out(&toolbox, server, context),
        ServersCommand::Trust { server, yes, shown } => {
            let review = toolbox.review_server(server)?;
            if shown.as_ref().is_some_and(|shown| *shown != review.digest()) {
                let message = message!("the tools of `{server}` are not those that were shown", server = review.server);
                let hint = message!("look at them again with `toolcell servers diff {server}`", server = review.server);
                return Err(CliError::coded(ErrorCode::ApprovalChanged, message, hint));
            }
            trust(&toolbox, &review, *yes || shown.is_some(), context)
        }
    }
}

fn list(toolbox: &Toolbox, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let mut servers = Vec::new();
    for server in toolbox.policy().servers() {
        let trusted = match toolbox.store() {
            Some(store) => store.trusted_definitions().trusted(&server.name)?.len(),
            None => 0,
        };
        // A secret that is missing, or tokens that cannot be read, are told where they are needed.
        let login = toolbox.server_login_state(server.name.as_str()).ok();
        servers.push((server, trusted, login));
    }
    if format.is_json() {
        let servers: Vec<Value> = servers
            .iter()
            .map(|(server, trusted, login)| {
                let login = login.map(|login| match login {
                    ServerLoginState::NotNeeded => "not-needed",
                    ServerLoginState::SignedIn => "signed-in",
                    ServerLoginState::Required => "required",
                });
                json!({
                    "name": server.name.as_str(), "target": target(server), "trusted": trusted, "login": login,
                    "origin": server.origin.to_string(),
                })
            })
            .collect();
        writeln!(streams.output, "{}", json!({ "servers": servers }))?;
        return Ok(Exit::Done);
    }
    if servers.is_empty() {
        streams.print_note(&message!("the policy defines no server"), lang)?;
        streams
            .print_hint(&message!("define one in `[servers.NAME]` of the user's policy; see `toolcell init`"), lang)?;
        return Ok(Exit::Done);
    }
    let titles = [
        tr!(lang, "column" => "server"),
        tr!(lang, "column" => "trusted tools"),
        tr!(lang, "column" => "command or URL"),
    ];
    let fits = [(Fit::Whole, 0), (Fit::Number, 0), (Fit::Text(16), 0)];
    let columns = titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, drop_order: spare });
    let mut table = Table::new(columns.collect());
    let mut without_login = Vec::new();
    for (server, trusted, login) in servers {
        table.add_row([server.name.to_string(), trusted.to_string(), target(server)]);
        if login == Some(ServerLoginState::Required) {
            without_login.push(&server.name);
        }
    }
    table.print(Overflow::Truncate, "toolcell servers --json", lang, streams)?;
    for server in without_login {
        streams.print_hint(&message!("`toolcell servers login {server}` signs in to `{server}`", server), lang)?;
    }
    Ok(Exit::Done)
}

/// Returns how a server is reached, as one line.
fn target(server: &ServerDefinition) -> String {
    match &server.transport {
        ServerTransport::Command { command, .. } => command.join(" "),
        ServerTransport::Http { url, .. } => url.to_string(),
    }
}

/// Has a person sign in with a browser, or with the address to which a browser on another machine returned.
fn sign_in(
    login: &ServerLogin,
    server: &str,
    no_browser: bool,
    limit: Duration,
    context: &mut Context<'_>,
) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let shown = json!({ "server": server, "issuer": login.issuer(), "url": login.url(), "redirect_uri": login.redirect_uri() });
        writeln!(streams.output, "{shown}")?;
    } else {
        let issuer = escape_invisible(login.issuer());
        let said = tr!(lang, "Sign in at `{issuer}` for the server `{server}`:", issuer, server);
        // The URL is ASCII, and is copied: it is not wrapped.
        writeln!(streams.output, "{said}\n\n{}\n", login.url())?;
    }
    streams.output.flush()?;
    let is_opened = streams.is_interactive() && !no_browser && browser::open(login.url());
    if streams.is_interactive() {
        let message = if is_opened {
            message!("a browser opens; if it is on another machine, paste the address at which it ends")
        } else {
            message!("open this URL; if the browser is on another machine, paste the address at which it ends")
        };
        streams.print_note(&message, lang)?;
        read_returns(login.clone());
    }
    login.wait(limit, SIGNED_IN_BY)?;
    if format.is_json() {
        writeln!(streams.output, "{}", json!({ "server": server, "signed_in": true }))?;
    } else {
        writeln!(streams.output, "{}", tr!(lang, "You are signed in to `{server}`", server))?;
    }
    Ok(Exit::Done)
}

/// Takes addresses from the terminal until one ends the sign-in. The thread ends with the process.
fn read_returns(login: ServerLogin) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
            match login.finish(&line) {
                Ok(()) => return,
                Err(error) => {
                    // The terminal may be gone; the browser may return all the same.
                    let _ = writeln!(std::io::stderr(), "{}", escape_invisible(&error.to_string()));
                }
            }
        }
    });
}

fn sign_out(toolbox: &Toolbox, server: &str, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let outcome = toolbox.logout_server(server, SIGNED_IN_BY)?;
    let Context { ref mut streams, format, lang, .. } = *context;
    let (deleted, revoked) = (outcome != ServerLogout::NoTokens, outcome == ServerLogout::Revoked);
    let not_revoked = match outcome {
        ServerLogout::NotRevoked { reason } => Some(Message::verbatim(escape_invisible(&reason))),
        ServerLogout::NotDefined => Some(message!("the policy does not define the server")),
        _ => None,
    };
    if format.is_json() {
        let reason = not_revoked.map(|reason| reason.to_text(lang));
        let answer = json!({ "server": server, "deleted": deleted, "revoked": revoked, "reason": reason });
        writeln!(streams.output, "{answer}")?;
        return Ok(Exit::Done);
    }
    let said = if deleted {
        tr!(lang, "The tokens of `{server}` are deleted", server)
    } else {
        tr!(lang, "There are no tokens of `{server}`", server)
    };
    writeln!(streams.output, "{said}")?;
    if let Some(why) = not_revoked {
        let warning = message!("they are valid until they expire, because they are not revoked: {why}", why);
        streams.print_warning(&warning, lang)?;
    }
    Ok(Exit::Done)
}

fn diff(review: &ServerReview, context: &mut Context<'_>) -> Result<Exit, CliError> {
    if context.format.is_json() {
        writeln!(context.streams.output, "{}", review_to_json(review))?;
    } else {
        let lines = review_lines(review, context.lang);
        let Context { streams, lang, .. } = context;
        for line in lines {
            writeln!(streams.output, "{line}")?;
        }
        if !review.is_trusted() {
            let hint = message!(
                "`toolcell servers trust {server} --shown {digest}` trusts exactly these",
                server = review.server,
                digest = review.digest()
            );
            streams.print_hint(&hint, *lang)?;
        }
    }
    Ok(if review.is_trusted() { Exit::Done } else { Exit::ToolFailed })
}

fn trust(toolbox: &Toolbox, review: &ServerReview, yes: bool, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let lang = context.lang;
    let lines = review_lines(review, lang);
    let count = review.new.len() + review.changed.len() + review.unchanged.len();
    if !yes && !review.is_trusted() {
        if !context.streams.is_interactive() {
            let message = message!(
                "nobody can be asked whether the tools of `{server}` are to be trusted",
                server = review.server
            );
            let hint =
                message!("read them with `toolcell servers diff {server}`, then pass --yes", server = review.server);
            return Err(CliError::coded(ErrorCode::ConfirmRequired, message, hint));
        }
        if !prompt::confirm(&lines, tr!(lang, "Trust these tools?"), lang)? {
            context.streams.print_note(&message!("nothing was trusted"), lang)?;
            return Ok(Exit::Refused);
        }
    }
    toolbox.trust_server(review, TRUSTED_BY)?;
    if context.format.is_json() {
        writeln!(context.streams.output, "{}", json!({ "server": review.server.as_str(), "trusted": count }))?;
    } else {
        if yes {
            for line in &lines {
                writeln!(context.streams.output, "{line}")?;
            }
        }
        let said = tr!(lang, "{count} tools of `{server}` are trusted", count, server = review.server);
        writeln!(context.streams.output, "{said}")?;
    }
    Ok(Exit::Done)
}

/// Returns what is to be said about a server, line by line.
fn review_lines(review: &ServerReview, lang: toolcell_i18n::Lang) -> Vec<String> {
    let mut lines = Vec::new();
    for tool in &review.new {
        lines.push(tr!(lang, "new: {tool}", tool = escape_invisible(&tool.name)));
        push_definition(&mut lines, "  ", tool);
    }
    for (before, now) in &review.changed {
        lines.push(tr!(lang, "changed: {tool}", tool = escape_invisible(&now.name)));
        // All of the definition: a limit or a default is as important as a description.
        let changes = toolcell_testing::unified("definition", &to_json_text(before), &to_json_text(now));
        lines.extend(changes.lines().skip(2).map(|line| format!("  {}", escape_invisible(line))));
    }
    for tool in &review.gone {
        lines.push(tr!(lang, "gone: {tool}", tool = escape_invisible(tool)));
    }
    for (name, tools) in &review.collisions {
        let tools = tools.iter().map(|tool| escape_invisible(tool)).collect::<Vec<_>>().join(", ");
        lines.push(tr!(lang, "not callable, because all are `{name}` in code: {tools}", name, tools));
    }
    lines.push(tr!(
        lang,
        "{server}: {new} new, {changed} changed, {gone} gone, {unchanged} as trusted",
        server = review.server,
        new = review.new.len(),
        changed = review.changed.len(),
        gone = review.gone.len(),
        unchanged = review.unchanged.len(),
    ));
    lines
}

/// Adds the declaration of a tool, its description where the declaration shortens it, and what the server says about its
/// effects.
fn push_definition(lines: &mut Vec<String>, indent: &str, tool: &ServerToolDefinition) {
    let declaration = tool.declaration(Detail::Full);
    if tool.description.chars().count() > SHORTENED_CHARS {
        lines.extend(tool.description.lines().map(|line| format!("{indent}// {}", escape_invisible(line))));
    }
    lines.extend(declaration.trim_end().lines().map(|line| format!("{indent}{}", escape_invisible(line))));
    if !tool.hints.is_null() {
        lines.push(format!("{indent}// {}", escape_invisible(&tool.hints.to_string())));
    }
}

/// Escapes all characters that are not visible, line breaks too.
fn escape_invisible(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '"' | '\'' | '\\' => escaped.push(char),
            char => escaped.extend(char.escape_debug()),
        }
    }
    escaped
}

fn to_json_text(tool: &ServerToolDefinition) -> String {
    serde_json::to_string_pretty(tool).unwrap_or_default() + "\n"
}

fn review_to_json(review: &ServerReview) -> Value {
    let changed = review.changed.iter().map(|(before, now)| json!({ "before": before, "now": now }));
    let collisions = review.collisions.iter().map(|(name, tools)| json!({ "name": name, "tools": tools }));
    json!({
        "server": review.server.as_str(),
        "new": review.new,
        "changed": changed.collect::<Vec<_>>(),
        "gone": review.gone,
        "unchanged": review.unchanged.len(),
        "digest": review.digest(),
        "collisions": collisions.collect::<Vec<_>>(),
    })
}
