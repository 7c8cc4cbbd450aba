//! The pages of `mcp --http --ui`: who gets in, and whose tools they decide about.

use serde_json::json;

use super::raw_http::{RawAnswer, WebServer};
use super::server::BinaryFixture;
use super::tenants::client_of;

const POLICY: &str = "[grants.default]\ntimers = true\n";
const WAITS: &str = "const execute = () => new Promise((done) => setTimeout(() => done(7), 1))";

/// Two principals, the second of which has a host token, and two operators.
fn write_tokens(home: &BinaryFixture) -> String {
    let operator = |name: &str, principals: &str| {
        format!("[operators.{name}]\ntoken = '{}'\nprincipals = [{principals}]\n", BinaryFixture::token(name))
    };
    let path = home.write_tokens(&["alice", "bob"], "");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str(&operator("maria", "'alice'"));
    text.push_str(&operator("max", "'bob', 'alice'"));
    let host = format!("[principals.bob]\nhost_token = '{}'\n", BinaryFixture::token("hosthost"));
    std::fs::write(&path, text.replace("[principals.bob]\n", &host)).unwrap();
    path
}

/// A browser of a person.
struct Browser<'a> {
    web: &'a WebServer,
    cookie: String,
}

impl<'a> Browser<'a> {
    fn new(web: &'a WebServer) -> Self {
        Self { web, cookie: String::new() }
    }

    fn get(&self, path: &str) -> RawAnswer {
        let (host, cookie) = (&self.web.address, &self.cookie);
        self.web
            .exchange(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"))
    }

    fn post(&self, path: &str, origin: &str, fields: &[(&str, &str)]) -> RawAnswer {
        let (host, cookie, form) = (&self.web.address, &self.cookie, serde_urlencoded::to_string(fields).unwrap());
        self.web.exchange(format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nCookie: {cookie}\r\nConnection: close\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            form.len()
        ))
    }

    fn own_origin(&self) -> String {
        format!("http://{}", self.web.address)
    }

    fn sign_in(&self, token: &str, next: &str) -> RawAnswer {
        self.post("/ui/sign-in", &self.own_origin(), &[("token", token), ("next", next)])
    }

    /// Signs a person in, and returns the browser with the cookie.
    fn signed_in(web: &'a WebServer, name: &str) -> Self {
        let mut browser = Self::new(web);
        let answer = browser.sign_in(&BinaryFixture::token(name), "");
        assert_eq!((answer.status, answer.header("location")), (303, "/ui/"), "{answer:?}");
        let cookie = answer.header("set-cookie");
        assert!(cookie.contains("; Path=/ui/;") && cookie.contains("HttpOnly; SameSite=Lax"), "{cookie}");
        cookie.split(';').next().unwrap().clone_into(&mut browser.cookie);
        browser
    }

    /// Decides about a tool as its page shows it.
    fn decide(&self, principal: &str, tool: &str, action: &str, more: &[(&str, &str)]) -> RawAnswer {
        let path = format!("/ui/principals/{principal}/tools/{tool}");
        let page = self.get(&path).body;
        let (form_token, shown) = (field(&page, "form_token"), field(&page, "shown"));
        let form = [("form_token", &*form_token), ("shown", &*shown), ("action", action)];
        let form = [&form[..], more].concat();
        self.post(&format!("{path}/decide"), &self.own_origin(), &form)
    }
}

fn field(page: &str, name: &str) -> String {
    let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_else(|| panic!("no {name}: {page}"));
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn an_operator_decides_for_their_principals_and_an_agent_decides_nothing() {
    let home = BinaryFixture::new(POLICY);
    let tokens = write_tokens(&home);
    let mut web = home.start_http(&["--tokens", &tokens, "--ui"]);
    assert_eq!(web.process.wait_for_line("operators sign in at http://"), format!("{}/ui/", web.address));
    let mut alice = client_of(&web, "alice").stateless(json!({}));
    let id = alice.create_tool("waits", WAITS)["id"].as_str().unwrap().to_owned();
    client_of(&web, "bob").stateless(json!({})).create_tool("his", "const execute = () => 1");
    alice.run("waits", json!({})).fails("permission-denied");

    // Neither an agent nor the program that asks for it gets in.
    let stranger = Browser::new(&web);
    for token in ["alice", "hosthost", "mallory", "metrics"].map(BinaryFixture::token) {
        let refused = stranger.sign_in(&token, "");
        assert_eq!((refused.status, refused.header("set-cookie")), (401, ""), "{refused:?}");
    }
    for path in ["", "tools", "runs", &*format!("tools/{id}"), "events?since=0"] {
        let refused = stranger.get(&format!("/ui/principals/alice/{path}"));
        assert_eq!((refused.status, refused.body.contains("waits")), (401, false), "{path}: {refused:?}");
    }
    assert_eq!(stranger.get("/ui").header("location"), "/ui/");
    assert_eq!(stranger.get("/ui/").status, 200);
    // The token of an operator is not one of an agent.
    let mut maria_as_agent = client_of(&web, "maria");
    maria_as_agent.send_request("tools/list", json!({}));
    assert_eq!(maria_as_agent.http_error().0, 401);

    let maria = Browser::signed_in(&web, "maria");
    assert_eq!(maria.get("/ui/").header("location"), "/ui/principals/alice/");
    let inbox = maria.get("/ui/principals/alice/");
    assert!(inbox.status == 200 && inbox.body.contains("waits"), "{inbox:?}");
    assert!(inbox.body.contains("href=\"/ui/assets/") && inbox.body.contains("base href=\"/ui/principals/alice/\""));
    let foreign = maria.get("/ui/principals/bob/");
    assert_eq!((foreign.status, foreign.body.contains("his")), (404, false), "{foreign:?}");
    assert_eq!(foreign.body, maria.get("/ui/principals/nobody/").body);

    // One run, and no more.
    assert_eq!(maria.decide("alice", &id, "once", &[]).status, 303);
    alice.run("waits", json!({})).returns(&json!(7));
    alice.run("waits", json!({})).fails("permission-denied");
    // The policy is that of all principals.
    let granted = maria.decide("alice", &id, "grant", &[("grant", "net=evil.example")]);
    assert_eq!(granted.status, 409, "{granted:?}");
    assert_eq!(maria.decide("alice", &id, "approve", &[]).status, 303);
    alice.run("waits", json!({})).returns(&json!(7));
    let decided = |action: &str| {
        let lines = home.principal_audit_lines("alice");
        let lines = lines.iter().filter(|line| line["action"] == action && line["success"] == true);
        lines.map(|line| line["details"]["decidedBy"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!([decided("approve-once"), decided("approve")], [["page (maria)"], ["page (maria)"]]);

    // An operator of several principals chooses.
    let max = Browser::signed_in(&web, "max");
    let choice = max.get("/ui/");
    assert!(choice.status == 200 && choice.body.contains("/ui/principals/bob/"), "{choice:?}");
    assert!(max.get("/ui/principals/bob/tools").body.contains("his"));
    let signed_out =
        max.post("/ui/sign-out", &max.own_origin(), &[("form_token", &*field(&choice.body, "form_token"))]);
    assert_eq!((signed_out.status, max.get("/ui/principals/bob/").status), (303, 401));
    assert_eq!(maria.get("/ui/principals/alice/").status, 200);
}

#[test]
fn another_site_signs_no_one_in_or_out_and_decides_nothing() {
    let home = BinaryFixture::new(POLICY);
    let tokens = write_tokens(&home);
    let web = home.start_http(&["--tokens", &tokens, "--ui", "--allow-origin", "http://other.example:80"]);
    let id =
        client_of(&web, "alice").stateless(json!({})).create_tool("waits", WAITS)["id"].as_str().unwrap().to_owned();
    let maria = Browser::signed_in(&web, "maria");
    let page = maria.get(&format!("/ui/principals/alice/tools/{id}")).body;
    let (form_token, shown) = (field(&page, "form_token"), field(&page, "shown"));
    let decision = [("form_token", &*form_token), ("shown", &*shown), ("action", "approve")];
    let decide = format!("/ui/principals/alice/tools/{id}/decide");
    for origin in ["http://evil.example", "null", "http://other.example:80", &*format!("ftp://{}", web.address)] {
        assert_eq!(maria.post(&decide, origin, &decision).status, 403, "{origin}");
        assert_eq!(maria.post("/ui/sign-out", origin, &[("form_token", &*form_token)]).status, 403, "{origin}");
        let token = BinaryFixture::token("maria");
        assert_eq!(maria.post("/ui/sign-in", origin, &[("token", &*token)]).status, 403, "{origin}");
    }
    assert_eq!(maria.post("/ui/sign-out", &maria.own_origin(), &[("form_token", "0")]).status, 403);
    // A proxy that ends TLS passes on the name, and the cookie stays with TLS.
    let encrypted = format!("https://{}", web.address);
    let signed_in = maria.post("/ui/sign-in", &encrypted, &[("token", &*BinaryFixture::token("maria"))]);
    assert!(signed_in.header("set-cookie").ends_with("; Secure"), "{signed_in:?}");
    // DNS rebinding.
    let cookie = &maria.cookie;
    let rebound = web.exchange(format!(
        "GET /ui/principals/alice/ HTTP/1.1\r\nHost: evil.example\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    ));
    assert!(rebound.status == 403 || rebound.status == 421, "{rebound:?}");
    assert!(!rebound.body.contains("waits"));
    // After signing in, a browser stays on this server.
    for next in
        ["//evil.example/", "https://evil.example/", "/ui/../x", "/ui/principals/a\r\nSet-Cookie: a=b", "/ui//evil"]
    {
        let answer = maria.sign_in(&BinaryFixture::token("maria"), next);
        assert_eq!((answer.status, answer.header("location")), (303, "/ui/"), "{next:?}: {answer:?}");
    }
    let wanted = format!("/ui/principals/alice/tools/{id}");
    assert_eq!(maria.sign_in(&BinaryFixture::token("maria"), &wanted).header("location"), wanted);
    assert_eq!(home.principal_audit_lines("alice").iter().filter(|line| line["action"] == "approve").count(), 0);
}

#[test]
fn wrong_tokens_of_an_address_have_to_wait_and_the_right_one_does_not() {
    let home = BinaryFixture::new("");
    let tokens = write_tokens(&home);
    let web = home.start_http(&["--tokens", &tokens, "--ui"]);
    let stranger = Browser::new(&web);
    let statuses: Vec<u16> = (0..32).map(|_| stranger.sign_in("a-wrong-token-0123456789", "").status).collect();
    assert!(statuses[..30].iter().all(|status| *status == 401) && statuses[31] == 429, "{statuses:?}");
    Browser::signed_in(&web, "maria");
}

#[test]
fn open_pages_do_not_keep_a_server_from_ending() {
    let home = BinaryFixture::new("");
    let tokens = write_tokens(&home);
    let mut web = home.start_http(&["--tokens", &tokens, "--ui", "--grace", "1"]);
    let maria = Browser::signed_in(&web, "maria");
    let _stream = web.send_incomplete(&format!(
        "GET /ui/principals/alice/events?since=0 HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
        web.address, maria.cookie
    ));
    assert_eq!(maria.get("/ui/principals/alice/").status, 200);
    web.process.send_signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(web.process.wait_for_exit(), Some(0));
}

#[test]
fn without_tokens_a_link_opens_the_pages_once() {
    let home = BinaryFixture::new(POLICY);
    let mut web = home.start_http(&["--ui"]);
    let told = web.process.wait_for_line(&format!("the page is at http://{}", web.address));
    let link = told.split(';').next().unwrap().to_owned();
    web.client().stateless(json!({})).create_tool("waits", WAITS);
    let opened = web.exchange(format!("GET {link} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", web.address));
    assert_eq!(opened.status, 200, "{opened:?}");
    let base = opened.body.split("<a href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(base.starts_with("/ui/"), "{base}");
    let cookie = opened.header("set-cookie").split(';').next().unwrap().to_owned();
    let browser = Browser { web: &web, cookie };
    assert!(browser.get(&base).body.contains("waits"));
    assert_eq!(Browser::new(&web).get(&base).status, 401);
    assert_eq!(Browser::new(&web).get(&link).status, 410);
}

#[test]
fn pages_that_no_one_could_open_safely_are_refused_at_the_start() {
    let home = BinaryFixture::new("");
    let tokens = home.write_tokens(&["alice"], "");
    let refused = |words: &[&str], set: &[(&str, &str)], expected: &str| {
        let output = home.run_with_env(&[&["mcp"], words].concat(), set);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && errors.contains(expected), "{words:?}: {errors}");
    };
    refused(&["--ui"], &[], "--http");
    refused(&["--http", "0", "--ui", "--tokens", &tokens], &[], "[operators.NAME]");
    let token = [("TOOLCELL_MCP_TOKEN", "0123456789abcdef0123")];
    refused(&["--http", "0.0.0.0:0", "--ui"], &token, "[operators.NAME]");
    let with = |more: &str, expected: &str| {
        let text = std::fs::read_to_string(&tokens).unwrap();
        let path = home.path("more.toml");
        std::fs::write(&path, format!("{text}{more}")).unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, private).unwrap();
        refused(&["--http", "0", "--ui", "--tokens", path.to_str().unwrap()], &[], expected);
    };
    let token = BinaryFixture::token("maria");
    with(&format!("[operators.maria]\ntoken = '{token}'\n"), "`operators.maria.principals` is not");
    with(&format!("[operators.maria]\ntoken = '{token}'\nprincipals = []\n"), "`operators.maria.principals` is not");
    with(
        &format!("[operators.maria]\ntoken = '{token}'\nprincipals = ['eve']\n"),
        "`operators.maria.principals` is not",
    );
    let taken = BinaryFixture::token("alice");
    with(&format!("[operators.maria]\ntoken = '{taken}'\nprincipals = ['alice']\n"), "have the same token");
    let taken = BinaryFixture::token("metrics");
    with(&format!("[operators.maria]\ntoken = '{taken}'\nprincipals = ['alice']\n"), "have the same token");
    with("[operators.maria]\ntoken = 'short'\nprincipals = ['alice']\n", "the minimum is 16");
    with(
        &format!("[operators.maria]\ntoken = '{token}'\nprincipals = ['alice']\nrole = 'admin'\n"),
        "operators.maria.role",
    );
}
