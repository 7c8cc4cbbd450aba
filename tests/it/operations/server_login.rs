//! MCP servers that want access tokens of an authorization server.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, Response};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use toolcell::{RunOptions, ServerLoginState, ServerLogout, Toolbox};

use super::servers::{all_text, caught, run_with, spellings, value};
use super::{ToolboxFixture, returned_value};
use crate::mcp::server::binary;

/// Far longer than any sign-in of a test.
const LIMIT: Duration = Duration::from_mins(1);

/// A server that wants tokens, and the authorization server that issues them.
struct Issuer {
    child: Child,
    url: String,
}

impl Issuer {
    fn start(kind: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/servers/authorized.py");
        let port_file = folder.path().join("port");
        let child = Command::new("python3").arg(script).arg(kind).arg(&port_file).stdin(Stdio::null()).spawn().unwrap();
        let mut issuer = Self { child, url: String::new() };
        let began = Instant::now();
        while issuer.url.is_empty() {
            assert!(began.elapsed() < LIMIT, "the server does not start");
            match std::fs::read_to_string(&port_file) {
                Ok(port) => issuer.url = format!("http://127.0.0.1:{port}"),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        issuer
    }

    /// A policy with this server as `s`.
    fn policy(&self, oauth: &str) -> String {
        format!(
            "[approval]\nmode = \"auto\"\n[grants.default]\nservers = {{ s = \"any\" }}\n\
             [servers.s]\nurl = \"{}/mcp\"\nauth = {{ oauth = {{ {oauth} }} }}\n",
            self.url
        )
    }

    fn state(&self) -> Value {
        serde_json::from_str(&get(&format!("{}/state", self.url)).text().unwrap()).unwrap()
    }

    fn count(&self, what: &str) -> u64 {
        self.state()[what].as_u64().unwrap()
    }

    fn set(&self, settings: &str) {
        assert!(get(&format!("{}/set?{settings}", self.url)).status().is_success());
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks for a page, and follows no redirect.
fn get(url: &str) -> Response {
    // The first test sets it, for a client that uses none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
    client.get(url).send().unwrap()
}

/// Returns where the browser is sent after the person has agreed.
fn agree(url: &str) -> String {
    get(url).headers()["location"].to_str().unwrap().to_owned()
}

/// Signs in as a person with a browser on this machine.
fn sign_in(toolbox: &Toolbox) -> Result<(), String> {
    let login = toolbox.login_server("s").map_err(|error| error.to_string())?;
    let waiting = login.clone();
    let waiting = std::thread::spawn(move || waiting.wait(LIMIT, "a person"));
    assert!(get(&agree(login.url())).status().is_success());
    waiting.join().unwrap().map_err(|error| error.to_string())
}

fn sum(host: &ToolboxFixture) -> Value {
    value(host, "return (await servers.s.add({ a: 2, b: 2 })).sum")
}

#[test]
fn a_person_signs_in_and_the_tokens_outlive_the_process() {
    use std::os::unix::fs::PermissionsExt as _;
    let issuer = Issuer::start("honest");
    let mut host = ToolboxFixture::with_policy(&issuer.policy(""));
    let (code, effects, message) = caught(&host, "servers.s.add({ a: 2, b: 2 })");
    assert_eq!((code.as_str(), effects.as_str()), ("server-unauthorized", "none"));
    assert_eq!(message, "the server `s` cannot be used: nobody has signed in; sign in with `toolcell servers login s`");
    assert_eq!(host.toolbox().server_login_state("s").unwrap(), ServerLoginState::Required);
    assert_eq!(issuer.count("calls"), 0);

    sign_in(host.toolbox()).unwrap();
    // What the first call failed with is not told again for a second.
    host.reopen();
    assert_eq!(sum(&host), json!(4));
    assert_eq!(host.toolbox().server_login_state("s").unwrap(), ServerLoginState::SignedIn);
    let file = host.path().join("credentials/s.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    host.reopen();
    assert_eq!(sum(&host), json!(4));
    let state = issuer.state();
    assert_eq!((&state["registered"], &state["exchanged"], &state["refreshed"]), (&json!(1), &json!(1), &json!(0)));
    let asked = &state["seen"][0];
    assert_eq!((&asked["code_challenge_method"], &asked["scope"]), (&json!("S256"), &json!("notes")));
    assert_eq!(asked["resource"], json!(format!("{}/mcp", issuer.url)));
    let line = host.audit_lines().into_iter().rev().find(|line| line.action == "login_server").unwrap();
    assert_eq!(line.name.as_deref(), Some("s"));
}

#[test]
fn a_token_is_refreshed_once_by_all_processes() {
    let issuer = Issuer::start("honest");
    issuer.set("lifetime=1");
    let host = ToolboxFixture::with_policy(&issuer.policy(""));
    sign_in(host.toolbox()).unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    issuer.set("lifetime=3600");
    let others: Vec<Arc<Toolbox>> = (0..4).map(|_| Arc::new(host.second_toolbox())).collect();
    std::thread::scope(|scope| {
        for toolbox in &others {
            scope.spawn(|| toolbox.review_server("s").unwrap());
        }
    });
    assert_eq!(sum(&host), json!(4));
    let state = issuer.state();
    assert_eq!((&state["refreshed"], &state["reused"], &state["authorized"]), (&json!(1), &json!(0), &json!(1)));
}

#[test]
fn a_token_that_the_server_refuses_is_renewed_and_the_call_is_made() {
    let issuer = Issuer::start("honest");
    let mut host = ToolboxFixture::with_policy(&issuer.policy(""));
    sign_in(host.toolbox()).unwrap();
    assert_eq!(sum(&host), json!(4));
    issuer.set("forget=1");
    assert_eq!(sum(&host), json!(4));
    assert_eq!((issuer.count("refreshed"), issuer.count("calls")), (1, 2));
    // An issuer that does not replace the refresh token leaves it valid.
    issuer.set("rotate=false&forget=1");
    assert_eq!(sum(&host), json!(4));
    issuer.set("forget=1");
    assert_eq!(sum(&host), json!(4));
    // Where the refresh token has ended, a person has to sign in again, and then the calls go on.
    issuer.set("forget=1&end=1");
    let (code, _, message) = caught(&host, "servers.s.add({ a: 2, b: 2 })");
    assert_eq!(code, "server-unauthorized", "{message}");
    assert!(message.contains("toolcell servers login s"), "{message}");
    sign_in(host.toolbox()).unwrap();
    host.reopen();
    assert_eq!(sum(&host), json!(4));
}

#[test]
fn a_server_that_refuses_each_token_has_one_renewed_and_not_one_for_each_call() {
    let issuer = Issuer::start("honest");
    let host = ToolboxFixture::with_policy(&issuer.policy(""));
    sign_in(host.toolbox()).unwrap();
    assert_eq!(sum(&host), json!(4));
    issuer.set("refuse=true");
    for _ in 0..5 {
        let (code, _, message) = caught(&host, "servers.s.add({ a: 2, b: 2 })");
        assert!(code.starts_with("server-"), "{code}: {message}");
    }
    assert_eq!(issuer.count("refreshed"), 1);
}

#[test]
fn a_process_acts_for_itself_with_a_client_secret() {
    let issuer = Issuer::start("honest");
    issuer.set("lifetime=1");
    let oauth = |issuer: &str| {
        format!(
            "grant_type = \"client_credentials\", client_id = \"robot\", client_secret = \"{{{{secret:ROBOT}}}}\", \
             issuer = \"{issuer}\""
        )
    };
    let mut host = ToolboxFixture::with_policy(&issuer.policy(&oauth(&issuer.url)));
    host.set_secret("ROBOT", "a robot's secret");
    assert_eq!(sum(&host), json!(4));
    std::thread::sleep(Duration::from_millis(1_100));
    issuer.set("lifetime=3600");
    assert_eq!(sum(&host), json!(4));
    let exchanged = issuer.count("client");
    assert_eq!(sum(&host), json!(4));
    assert_eq!((issuer.count("client"), issuer.count("authorized")), (exchanged, 0));
    assert!(exchanged >= 2, "the first token has expired");
    assert!(!host.path().join("credentials").exists());
    assert_eq!(host.toolbox().server_login_state("s").unwrap(), ServerLoginState::NotNeeded);
    let error = host.toolbox().login_server("s").err().unwrap().to_string();
    assert!(error.contains("nobody has to sign in"), "{error}");

    // The secret goes to no authorization server but its own, whatever the MCP server names.
    host.set_policy(&issuer.policy(&oauth("https://auth.example")));
    let (code, _, message) = caught(&host, "servers.s.add({ a: 2, b: 2 })");
    assert_eq!(code, "server-unreachable");
    assert!(message.contains(&format!("names the authorization server `{}`", issuer.url)), "{message}");
    assert_eq!(issuer.count("client"), exchanged);

    // A wrong secret is refused, and not shown.
    host.set_policy(&issuer.policy(&oauth(&issuer.url)));
    host.set_secret("ROBOT", "another secret");
    let (code, _, message) = caught(&host, "servers.s.add({ a: 2, b: 2 })");
    assert_eq!(code, "server-unreachable");
    assert!(message.contains("invalid_client") && !message.contains("another secret"), "{message}");
}

#[test]
fn a_refresh_token_goes_to_the_issuer_alone() {
    let (issuer, other) = (Issuer::start("honest"), Issuer::start("honest"));
    let mut host = ToolboxFixture::with_policy(&issuer.policy(""));
    sign_in(host.toolbox()).unwrap();
    issuer.set(&format!("forget=1&issuer=%22{}%22", other.url));
    let (code, _, message) = caught(&host, "servers.s.add({ a: 2, b: 2 })");
    assert_eq!(code, "server-unauthorized", "{message}");
    assert!(message.contains(&other.url) && message.contains(&issuer.url), "{message}");
    assert_eq!((other.count("refreshed"), issuer.count("refreshed")), (0, 0));
    // Nor is a token of another issuer used than the one that the policy names by now.
    issuer.set("issuer=%22%22");
    host.set_policy(&issuer.policy("issuer = \"https://auth.example\""));
    let (code, _, message) = caught(&host, "servers.s.add({ a: 2, b: 2 })");
    assert_eq!(code, "server-unauthorized");
    assert!(message.contains("the sign-in was at another `issuer`"), "{message}");
    // Tokens of one URL are not sent to another.
    host.set_policy(&other.policy(""));
    assert_eq!(caught(&host, "servers.s.add({ a: 2, b: 2 })").0, "server-unauthorized");
    assert_eq!(host.toolbox().server_login_state("s").unwrap(), ServerLoginState::Required);
}

#[test]
fn a_server_that_claims_to_be_another_issuer_gets_no_code() {
    let (honest, liar) = (Issuer::start("honest"), Issuer::start("mixed"));
    liar.set(&format!("issuer=%22{}%22", honest.url));
    let host = ToolboxFixture::with_policy(&liar.policy(""));
    // The person signs in at the honest issuer, which issues no token for another resource.
    let error = sign_in(host.toolbox()).unwrap_err();
    assert!(error.contains("invalid_target"), "{error}");
    assert_eq!((honest.count("authorized"), honest.count("tokens"), liar.count("tokens")), (1, 1, 0));
}

#[test]
fn what_cannot_be_signed_in_to_says_why() {
    let check = |kind: &str, oauth: &str, expect: &str| {
        let issuer = Issuer::start(kind);
        let host = ToolboxFixture::with_policy(&issuer.policy(oauth));
        let error = sign_in(host.toolbox()).unwrap_err();
        assert!(error.contains(expect), "{kind}: {error}");
        assert!(error.len() < 600 && !error.contains("short\""), "{kind}: {error}");
        assert!(!host.path().join("credentials/s.json").exists(), "{kind}");
        issuer
    };
    check("nobody", "", "names no authorization server (RFC 9728, RFC 8414)");
    check("unregistered", "", "set `client_id` to one that you registered there");
    check("plain", "", "is not a URL of an authorization server: `https://…`");
    check("short", "", "a token of 5 bytes");
    check("private", "", "to allow it, add it to `addresses` in `[servers.NAME]`");
    check("echo", "", "code={{secret:access-token}}");
    check("honest", "issuer = \"https://auth.example\"", "it must be `https://auth.example`");
    let issuer = check("deny", "", "the authorization server refuses: access_denied");
    assert_eq!(issuer.count("exchanged"), 0);
    let issuer = Issuer::start("unregistered");
    let host = ToolboxFixture::with_policy(&issuer.policy("client_id = \"known\", scopes = [\"notes\", \"more\"]"));
    sign_in(host.toolbox()).unwrap();
    assert_eq!(sum(&host), json!(4));
    assert_eq!(issuer.state()["seen"][0]["scope"], json!("notes more"));
    let bearer = "[servers.s]\nurl = \"http://127.0.0.1:9/mcp\"\n";
    let error = ToolboxFixture::with_policy(bearer).toolbox().login_server("s").err().unwrap();
    assert!(error.to_string().contains("`auth` in the policy is not `oauth`"), "{error}");
}

#[test]
fn only_the_return_of_the_sign_in_ends_it() {
    let issuer = Issuer::start("honest");
    let host = ToolboxFixture::with_policy(&issuer.policy(""));
    let login = host.toolbox().login_server("s").unwrap();
    let waiting = login.clone();
    let waiting = std::thread::spawn(move || waiting.wait(LIMIT, "a person"));
    let redirect = login.redirect_uri().to_owned();
    for foreign in ["", "?code=x", "?code=x&state=y", "?error=access_denied&state=y"] {
        let answer = get(&format!("{redirect}{foreign}"));
        assert_eq!(answer.status(), 400, "{foreign}");
        assert_eq!(answer.headers()["content-security-policy"], "default-src 'none'");
        assert!(!answer.text().unwrap().contains("access_denied"));
    }
    assert_eq!(get(&redirect.replace("callback", "")).status(), 404);
    let returned = agree(login.url());
    // Another state twice, and another issuer.
    assert_eq!(get(&format!("{returned}&state=other")).status(), 400);
    let elsewhere = returned.replace(&encoded(&issuer.url), &encoded("https://auth.example"));
    assert_ne!(elsewhere, returned);
    assert_eq!(get(&elsewhere).status(), 400);
    for wrong in ["", "not a URL", "https://auth.example/?code=1&state=2"] {
        login.finish(wrong).unwrap_err();
    }
    assert!(!waiting.is_finished());
    // The browser of another machine shows this address, and it is pasted.
    login.finish(&format!(" {returned}\n")).unwrap();
    waiting.join().unwrap().unwrap();
    assert_eq!(sum(&host), json!(4));
    let again = login.finish(&returned).unwrap_err().to_string();
    assert!(again.contains("this sign-in has ended"), "{again}");
}

fn encoded(url: &str) -> String {
    url.replace(':', "%3A").replace('/', "%2F")
}

#[test]
fn nobody_waits_for_ever() {
    let issuer = Issuer::start("honest");
    let host = ToolboxFixture::with_policy(&issuer.policy(""));
    let login = host.toolbox().login_server("s").unwrap();
    let error = login.wait(Duration::from_millis(50), "a person").unwrap_err().to_string();
    assert!(error.starts_with("no sign-in was completed within"), "{error}");
}

#[test]
fn a_sign_out_deletes_and_revokes() {
    let issuer = Issuer::start("honest");
    let mut host = ToolboxFixture::with_policy(&issuer.policy(""));
    assert_eq!(host.toolbox().logout_server("s", "a person").unwrap(), ServerLogout::NoTokens);
    sign_in(host.toolbox()).unwrap();
    assert_eq!(sum(&host), json!(4));
    assert_eq!(host.toolbox().logout_server("s", "a person").unwrap(), ServerLogout::Revoked);
    assert_eq!(issuer.count("revoked"), 1);
    assert_eq!(caught(&host, "servers.s.add({ a: 2, b: 2 })").0, "server-unauthorized");
    assert!(host.audit_lines().iter().any(|line| line.action == "logout_server"));
    // Tokens of another URL are not revoked, and that is said.
    sign_in(host.toolbox()).unwrap();
    let other = Issuer::start("honest");
    host.set_policy(&other.policy(""));
    let outcome = host.toolbox().logout_server("s", "a person").unwrap();
    assert!(matches!(outcome, ServerLogout::NotRevoked { reason } if reason.contains("for another URL")));
    assert_eq!((issuer.count("revoked"), other.count("revoked")), (1, 0));
    host.set_policy(&issuer.policy(""));
    // Tokens of a server that the policy no longer defines can be deleted.
    sign_in(host.toolbox()).unwrap();
    host.set_policy("");
    assert_eq!(host.toolbox().logout_server("s", "a person").unwrap(), ServerLogout::NotDefined);
    let error = host.toolbox().logout_server("s", "a person").unwrap_err().to_string();
    assert!(error.contains("there is no server `s`"), "{error}");
    host.set_policy(&issuer.policy(""));
    // Where the authorization server is gone, the tokens are deleted all the same.
    sign_in(host.toolbox()).unwrap();
    drop(issuer);
    host.reopen();
    let outcome = host.toolbox().logout_server("s", "a person").unwrap();
    assert!(matches!(outcome, ServerLogout::NotRevoked { .. }), "{outcome:?}");
    assert!(!host.path().join("credentials/s.json").exists());
}

#[test]
fn a_client_with_a_secret_authenticates_to_revoke_as_the_authorization_server_wants_it() {
    for kind in ["honest", "header"] {
        let issuer = Issuer::start(kind);
        let oauth = format!(
            "client_id = \"secretive\", client_secret = \"{{{{secret:CLIENT}}}}\", issuer = \"{}\"",
            issuer.url
        );
        let mut host = ToolboxFixture::with_policy(&issuer.policy(&oauth));
        host.set_secret("CLIENT", "a client secret");
        sign_in(host.toolbox()).unwrap();
        assert_eq!(host.toolbox().logout_server("s", "a person").unwrap(), ServerLogout::Revoked, "{kind}");
        assert_eq!(issuer.count("revoked"), 1, "{kind}");
    }
}

#[test]
fn an_access_token_is_nowhere_but_with_its_server() {
    let issuer = Issuer::start("honest");
    let mut host = ToolboxFixture::with_policy(&issuer.policy(""));
    sign_in(host.toolbox()).unwrap();
    let kept = std::fs::read_to_string(host.path().join("credentials/s.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let tokens = &kept["credentials"]["token_response"];
    let tokens = ["access_token", "refresh_token"].map(|name| tokens[name].as_str().unwrap().to_owned());
    let receipt = RunOptions { receipt: true, ..RunOptions::default() };
    let mut said = BTreeMap::new();
    for call in ["servers.s.environment()", "servers.s.fail()", "servers.s.add({ a: 1, b: 1 })"] {
        let body = format!("try {{ return await {call} }} catch (e) {{ console.log(e.stack, e); return String(e) }}");
        let ran = run_with(&host, &body, &receipt);
        said.insert(call, returned_value(&ran).to_string());
        said.insert("the receipt", ran.receipt.as_ref().unwrap().to_text());
        said.insert("the result", format!("{ran:?}"));
    }
    assert!(said["servers.s.environment()"].contains("{{secret:access-token}}"), "{said:?}");
    host.reopen();
    std::fs::remove_dir_all(host.path().join("credentials")).unwrap();
    said.insert("the store", all_text(host.path()));
    for (place, text) in said {
        for spelling in tokens.iter().flat_map(|token| spellings(token)) {
            assert!(!text.contains(&spelling), "{place} has {spelling}: {text}");
        }
    }
}

/// Starts the program with this folder as its store and its configuration.
fn program(folder: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(binary());
    command.args(words).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).env("TOOLCELL_DIR", folder.join("store"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn the_command_line_signs_in_and_out() {
    let issuer = Issuer::start("honest");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("toolcell")).unwrap();
    std::fs::write(folder.path().join("toolcell/toolcell.toml"), issuer.policy("")).unwrap();
    let text = |words: &[&str]| {
        let ended = program(folder.path(), words).wait_with_output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap())
    };
    let (status, listed, hint) = text(&["servers"]);
    assert!(
        status == Some(0) && listed.contains("/mcp") && hint.contains("toolcell servers login s"),
        "{listed}{hint}"
    );
    let (status, _, error) = text(&["servers", "diff", "s"]);
    assert_eq!(status, Some(3), "{error}");
    assert!(error.contains("nobody has signed in; sign in with `toolcell servers login s`"), "{error}");

    let mut login = program(folder.path(), &["servers", "login", "s"]);
    let mut lines = std::io::BufReader::new(login.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), format!("Sign in at `{}` for the server `s`:", issuer.url));
    let url = lines.find(|line| line.starts_with("http")).unwrap();
    assert!(get(&agree(&url)).status().is_success());
    assert_eq!(lines.last().unwrap(), "You are signed in to `s`");
    assert!(login.wait().unwrap().success());

    let (_, listed, _) = text(&["servers", "--json"]);
    assert!(listed.contains("\"login\":\"signed-in\""), "{listed}");
    let (status, shown, error) = text(&["servers", "diff", "s"]);
    assert_eq!(status, Some(1), "{error}");
    assert!(shown.contains("new: add"), "{shown}");
    let (status, said, _) = text(&["servers", "logout", "s", "--json"]);
    assert_eq!(status, Some(0));
    assert_eq!(said, "{\"server\":\"s\",\"deleted\":true,\"revoked\":true,\"reason\":null}\n");
    let (status, said, _) = text(&["servers", "logout", "s"]);
    assert_eq!((status, said.as_str()), (Some(0), "There are no tokens of `s`\n"));
}
