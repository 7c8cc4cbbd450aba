//! `network-access`: communication with other machines.

use super::quickjs::{self, Reach};
use super::{Findings, Rule, RuleContext, display_path};
use crate::facts::UseKind;
use crate::finding::{RuleId, Severity};

pub(super) const RULE: Rule =
    Rule { id: RuleId("network-access"), max_severity: Severity::High, docs: include_str!("network_access.md"), check };

const SUGGESTION: &str = "ask for the capability `net` with the hosts that it needs, or take the data as a parameter";

const MODULES: [&str; 44] = [
    "http",
    "https",
    "http2",
    "net",
    "tls",
    "dgram",
    "dns",
    "dns/promises",
    "axios",
    "got",
    "ky",
    "node-fetch",
    "undici",
    "superagent",
    "request",
    "ws",
    "socket.io-client",
    "socket.io",
    "nodemailer",
    "cross-fetch",
    "isomorphic-fetch",
    "follow-redirects",
    "needle",
    "phin",
    "bent",
    "wretch",
    "ofetch",
    "graphql-request",
    "ioredis",
    "redis",
    "mysql",
    "mysql2",
    "pg",
    "mongodb",
    "mqtt",
    "amqplib",
    "kafkajs",
    "ssh2",
    "basic-ftp",
    "imap",
    "websocket",
    "puppeteer",
    "playwright",
    "@grpc/grpc-js",
];

/// Globals that reach the network.
pub(crate) const GLOBALS: [&[&str]; 36] = [
    &["fetch"],
    &["XMLHttpRequest"],
    &["WebSocket"],
    &["WebSocketStream"],
    &["EventSource"],
    &["RTCPeerConnection"],
    &["WebTransport"],
    &["Image"],
    &["importScripts"],
    &["navigator", "sendBeacon"],
    &["navigator", "serviceWorker"],
    &["axios"],
    &["superagent"],
    &["jQuery", "ajax"],
    &["jQuery", "get"],
    &["jQuery", "post"],
    &["jQuery", "getJSON"],
    &["$", "ajax"],
    &["$", "get"],
    &["$", "post"],
    &["$", "getJSON"],
    &["$fetch"],
    &["Deno", "connect"],
    &["Deno", "connectTls"],
    &["Deno", "connectQuic"],
    &["Deno", "listen"],
    &["Deno", "listenTls"],
    &["Deno", "listenDatagram"],
    &["Deno", "resolveDns"],
    &["Deno", "serve"],
    &["Bun", "serve"],
    &["Bun", "connect"],
    &["Bun", "listen"],
    &["Bun", "fetch"],
    &["Bun", "udpSocket"],
    &["Bun", "dns"],
];

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    for path in GLOBALS {
        for used in source.facts.uses_of_global(path) {
            findings.add(
                Severity::High,
                used.span,
                format!("reaches the network: `{}`", display_path(used)),
                SUGGESTION,
            );
        }
    }
    for (module, span) in &source.facts.modules {
        if is_network(module) {
            let message = format!("loads `{module}`, which reaches the network");
            findings.add(Severity::High, *span, message, SUGGESTION);
        }
    }
    // Navigating to another page is a request as well.
    for write in &source.facts.writes {
        let goes = |path: &[&str]| write.target.as_path().is_some_and(|thing| thing.is_global_below(path));
        if goes(&["location"]) || goes(&["document", "location"]) {
            findings.add(Severity::High, write.span, "navigates to another page: `location`".to_owned(), SUGGESTION);
        }
    }
    for used in &source.facts.uses {
        let of_engine = quickjs::reach_of(&used.path) == Some(Reach::Network) && used.kind != UseKind::TypeTested;
        if of_engine || used.path.module_name().is_some_and(is_network) {
            findings.add(
                Severity::High,
                used.span,
                format!("reaches the network: `{}`", display_path(used)),
                SUGGESTION,
            );
        }
    }
}

/// Returns whether a module reaches the network.
pub(crate) fn is_network(module: &str) -> bool {
    MODULES.contains(&module.strip_prefix("node:").unwrap_or(module))
}
