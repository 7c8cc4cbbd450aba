//! `ui`: the server of the web page. `tests/ui` has its pages in a browser.
#![expect(clippy::disallowed_types, reason = "this is the other side of a server")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{SIGINT, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::fixtures::cli::CliFixture;

const WAITS: &str =
    "const execute = ({ ms }) => new Promise((done) => setTimeout(done, ms)) // </code><script>1</script>\n";

/// A running `toolcell ui`, and the cookie of the browser that opened its link.
struct Page {
    cli: CliFixture,
    server: Child,
    /// The host and the port.
    host: String,
    cookie: String,
    /// The path below which all pages are.
    base: String,
}

impl Page {
    fn open() -> Self {
        let cli = CliFixture::new();
        cli.file("waits.js", WAITS);
        cli.file("policy.toml", "");
        let created =
            cli.run(&["--config", "$policy.toml", "create", "$waits.js", "--description", "Waits \u{202e}<b>"]);
        assert_eq!(created.status, 0, "{}", created.err);
        let folder = cli.folder.path();
        let program = Path::new(env!("CARGO_BIN_EXE_store_worker")).parent().unwrap().join("toolcell");
        let mut server = Command::new(program)
            .args(["--lang", "en", "--no-project", "--dir"])
            .arg(folder.join("store"))
            .arg("--config")
            .arg(folder.join("policy.toml"))
            .arg("ui")
            .env("USER", "ada")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut link = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let (host, path) = link.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut page = Self { cli, server, host: host.to_owned(), cookie: String::new(), base: String::new() };
        assert_eq!(page.send(&format!("HEAD /{path} HTTP/1.1\r\nHost: {host}\r\n"), "").status, 405);
        let answer = page.get(&format!("/{path}"));
        assert_eq!(answer.status, 200, "{answer:?}");
        let link = answer.body.split("<a href=\"").nth(1).unwrap();
        link.split("/\"").next().unwrap().clone_into(&mut page.base);
        answer.header("set-cookie").unwrap().split(';').next().unwrap().clone_into(&mut page.cookie);
        assert_eq!(page.outside(&format!("/{path}")).status, 410);
        page
    }

    /// Asks for what is not below the secret path, without the cookie.
    fn outside(&self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n", self.host), "")
    }

    fn get(&self, path: &str) -> Answer {
        self.with_cookie(&self.cookie, path)
    }

    fn with_cookie(&self, cookie: &str, path: &str) -> Answer {
        self.send(&format!("GET {}{path} HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n", self.base, self.host), "")
    }

    /// Sends the form of a page.
    fn post(&self, path: &str, origin: &str, form: &str) -> Answer {
        let (host, cookie, length) = (&self.host, &self.cookie, form.len());
        let head = format!(
            "POST {}{path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nCookie: {cookie}\r\nContent-Length: {length}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            self.base
        );
        self.send(&head, form)
    }

    fn send(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// The path of the tool, and its form without the action.
    fn form(&self) -> (String, String) {
        let path = format!("/tools/{}", self.cli.run(&["list", "--json"]).json()["tools"][0]["id"].as_str().unwrap());
        let page = self.get(&path).body;
        let field = |name: &str| {
            let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
            rest.split('"').next().unwrap().to_owned()
        };
        (path, format!("form_token={}&shown={}", field("form_token"), field("shown")))
    }

    fn audited(&self, action: &str) -> Vec<serde_json::Value> {
        let lines = self.cli.run(&["audit", "--json", "--action", action]).out;
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Ends the server as Ctrl-C does, and returns its exit status.
    fn end(mut self) -> Option<i32> {
        kill(Pid::from_raw(self.server.id().try_into().unwrap()), SIGINT).unwrap();
        self.server.wait().unwrap().code()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // It ended if the test got that far.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.into_iter().find_map(|(field, value)| field.eq_ignore_ascii_case(name).then_some(value))
    }
}

#[test]
fn nothing_is_shown_without_the_link_or_under_another_name() {
    let page = Page::open();
    for path in ["/", "/tools", "/runs", "/events?since=0", "/tools/waits"] {
        for refused in [page.with_cookie("", path), page.outside(path)] {
            assert_eq!((refused.status, refused.body.contains("waits")), (401, false), "{path}: {refused:?}");
        }
    }
    let cookie = &page.cookie;
    let foreign = page.send(&format!("GET {}/ HTTP/1.1\r\nHost: evil.example\r\nCookie: {cookie}\r\n", page.base), "");
    assert_eq!((foreign.status, foreign.body.contains("waits")), (421, false), "{foreign:?}");
    let inbox = page.get("/");
    assert_eq!(inbox.status, 200);
    assert!(inbox.header("content-security-policy").unwrap().contains("default-src 'none'"), "{}", inbox.head);
    assert!(inbox.body.contains("waits") && inbox.body.contains("was used a second time"), "{}", inbox.body);
    assert_eq!(page.end(), Some(0));
}

#[test]
fn a_text_of_a_tool_is_text_on_its_page() {
    let page = Page::open();
    let (path, _) = page.form();
    let shown = page.get(&path).body;
    assert!(shown.contains("&lt;/code&gt;&lt;script&gt;1&lt;/script&gt;"), "{shown}");
    assert!(shown.contains("Waits <span class=\"code\">\\u{202e}</span>&lt;b&gt;"), "{shown}");
    assert_eq!(shown.matches("<script").count(), 1, "{shown}");
}

#[test]
fn a_decision_is_about_what_was_shown_and_leaves_one_audit_line_with_the_person() {
    let page = Page::open();
    let (path, form) = page.form();
    let (decide, origin) = (format!("{path}/decide"), format!("http://{}", page.host));
    let answers = [
        page.post(&decide, "http://evil.example", &format!("{form}&action=refuse")).status,
        page.post(&decide, "null", &format!("{form}&action=refuse")).status,
        page.post(&decide, &origin, &format!("{}&action=refuse", form.replace("form_token=", "form_token=0"))).status,
        page.post(&decide, &origin, &format!("{form}&action=explode")).status,
    ];
    assert_eq!(answers, [403, 403, 403, 400]);
    assert_eq!(page.post(&decide, &origin, &format!("{form}&action=grant&grant=net%3Devil.example")).status, 409);
    assert_eq!(page.audited("refuse"), [] as [serde_json::Value; 0]);
    assert_eq!(page.audited("approve")[0]["error"], "approval-changed");

    let granted = page.post(&decide, &origin, &format!("{form}&action=grant&grant=timers"));
    assert_eq!((granted.status, granted.header("location")), (303, Some(&*format!("{}/", page.base))), "{granted:?}");
    let line = &page.audited("approve")[0];
    assert_eq!((&line["success"], &line["details"]["decidedBy"]), (&json!(true), &json!("page (ada)")));
    assert_eq!(page.cli.run(&["--config", "$policy.toml", "run", "waits", "ms:=1"]).status, 0);

    // The second of two people decides about something else than they were shown.
    let late = page.post(&decide, &origin, &format!("{form}&action=refuse&reason=too+slow"));
    assert_eq!(late.status, 409);
    assert!(late.body.contains("Nothing was decided") && late.body.contains("page (ada)"), "{}", late.body);
    let line = &page.audited("refuse")[0];
    assert_eq!(
        (&line["error"], &line["details"]["decidedBy"]),
        (&json!("approval-changed"), &json!("page (ada): too slow"))
    );

    let (_, form) = page.form();
    assert_eq!(page.post(&decide, &origin, &format!("{form}&action=revoke")).status, 303);
    assert_eq!(page.audited("revoke").len(), 1);
    assert_eq!(page.end(), Some(0));
}
