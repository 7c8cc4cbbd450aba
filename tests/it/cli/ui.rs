//! `ui`: the server of the web page. `tests/ui` has its pages in a browser.
#![expect(clippy::disallowed_types, reason = "this is the other side of a server")]

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
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
        Self::open_under("")
    }

    /// Opens the page of a store with one tool under a policy.
    fn open_under(policy: &str) -> Self {
        Self::open_at(CliFixture::new(), policy)
    }

    fn open_at(cli: CliFixture, policy: &str) -> Self {
        cli.file("waits.js", WAITS);
        cli.file("policy.toml", policy);
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

    /// Sends the form of the playground.
    fn play(&self, action: &str, fields: &[(&str, &str)]) -> Answer {
        let page = self.get("/playground").body;
        let token = page.split("name=\"form_token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let form = [&[("form_token", token), ("action", action)], fields].concat();
        self.post("/playground", &format!("http://{}", self.host), &serde_urlencoded::to_string(form).unwrap())
    }

    /// Runs a command under the policy of the page.
    fn run(&self, words: &[&str]) -> crate::fixtures::cli::CommandOutput {
        self.cli.run(&[&["--no-project", "--config", "$policy.toml"], words].concat())
    }

    /// The identifiers of the recorded runs, newest first.
    fn runs(&self) -> Vec<String> {
        let ids = self.get("/runs").body;
        ids.split("href=\"runs/r_").skip(1).map(|rest| format!("r_{}", rest.split('"').next().unwrap())).collect()
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

#[test]
fn a_rule_for_all_tools_of_a_name_is_not_added_to() {
    let page = Page::open_under("[grants.tools.waits]\nkv = { space = \"notes\" }\n");
    let (path, form) = page.form();
    let origin = format!("http://{}", page.host);
    let refused = page.post(&format!("{path}/decide"), &origin, &format!("{form}&action=grant&grant=timers"));
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("later tools of this name would get its grants"), "{}", refused.body);
    let policy = std::fs::read_to_string(page.cli.folder.path().join("policy.toml")).unwrap();
    assert_eq!(policy, "[grants.tools.waits]\nkv = { space = \"notes\" }\n");
    assert_eq!(page.audited("approve")[0]["success"], false);
}

/// A small file system, which is read-only after an error, as that of a disk that fails.
struct FailingDisk {
    at: PathBuf,
    /// The name of its loop device.
    device: String,
}

impl FailingDisk {
    /// Mounts one at a path; `None` where that is not possible.
    fn mount(at: &Path, image: &Path) -> Option<Self> {
        let run = |program: &str, words: &[&OsStr]| {
            let done = Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
            done.is_ok_and(|status| status.success())
        };
        std::fs::File::create(image).unwrap().set_len(32 << 20).unwrap();
        std::fs::create_dir(at).unwrap();
        let without_journal = ["-q", "-F", "-O", "^has_journal"].map(OsStr::new);
        let options = ["-o", "loop,errors=remount-ro"].map(OsStr::new);
        let is_there = run("mkfs.ext4", &[&without_journal[..], &[image.as_os_str()]].concat())
            && run("mount", &[&options[..], &[image.as_os_str(), at.as_os_str()]].concat());
        if !is_there {
            return None;
        }
        // A folder with other files in it becomes no store.
        std::fs::remove_dir(at.join("lost+found")).unwrap();
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let source = mounts.lines().find(|line| line.split(' ').nth(1) == at.to_str()).unwrap().split(' ').next();
        Some(Self { at: at.to_owned(), device: source?.strip_prefix("/dev/")?.to_owned() })
    }

    fn fail(&self) {
        std::fs::write(format!("/sys/fs/ext4/{}/trigger_fs_error", self.device), "1").unwrap();
    }
}

impl Drop for FailingDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.at).status();
    }
}

#[test]
fn a_store_that_goes_read_only_is_shown_and_decides_nothing() {
    let cli = CliFixture::new();
    let (store, image) = (cli.folder.path().join("store"), cli.folder.path().join("disk.img"));
    // Where no file system can be mounted, the test has nothing to look at.
    let Some(disk) = FailingDisk::mount(&store, &image) else { return };
    let page = Page::open_at(cli, "[grants.default]\ntimers = true\n");
    let (path, form) = page.form();
    let origin = format!("http://{}", page.host);
    assert_eq!(page.post(&format!("{path}/decide"), &origin, &format!("{form}&action=once")).status, 303);
    disk.fail();
    let (_, form) = page.form();
    let refused = page.post(&format!("{path}/decide"), &origin, &format!("{form}&action=approve"));
    assert!(refused.status == 500 && refused.body.contains("read-only"), "{refused:?}");
    for path in ["/", &*path, "/runs", "/ledger"] {
        let shown = page.get(path);
        assert!(shown.status == 200 && shown.body.contains("The store is read-only"), "{path}: {shown:?}");
    }
    let shown = page.get(&path).body;
    assert!(shown.contains("Its next run is approved") && shown.contains("value=\"approve\" disabled"), "{shown}");
    assert_eq!(page.end(), Some(0));
    drop(disk);
}

#[test]
fn an_invalid_policy_is_shown_and_decides_nothing() {
    let page = Page::open();
    let (path, form) = page.form();
    page.cli.file("policy.toml", "[grants.default]\ntimers = 3\n");
    let shown = page.get(&path);
    assert!(shown.status == 500 && shown.body.contains("grants.default.timers"), "{shown:?}");
    let origin = format!("http://{}", page.host);
    assert_eq!(page.post(&format!("{path}/decide"), &origin, &format!("{form}&action=approve")).status, 500);
    page.cli.file("policy.toml", "");
    let (path, _) = page.form();
    assert!(page.get(&path).body.contains("It needs your approval"));
}

#[test]
fn the_ledger_sums_use_by_day_and_tool() {
    let page = Page::open_under("[approval]\nmode = \"auto\"\n[grants.default]\ntools = [\"half\"]\n");
    page.cli.file("half.js", "const execute = ({ n }) => { if (n % 2) throw new Error('odd'); return n / 2 }\n");
    page.cli.file(
        "quarter.js",
        "const execute = async ({ n }) => tools.call('half', { n: await tools.call('half', { n }) })\n",
    );
    for name in ["half", "quarter"] {
        let done = page.run(&["create", &format!("${name}.js"), "--description", name, "--cost", "900"]);
        assert_eq!(done.status, 0, "{}", done.err);
    }
    let id = |name: &str| page.run(&["show", name, "--json"]).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(page.run(&["run", "quarter", "n:=8", "--tokens-saved", "1000"]).status, 0);
    assert_eq!(page.run(&["run", "half", "n:=3"]).status, 1);

    let csv = page.get("/ledger/usage.csv?days=7");
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let rows: Vec<Vec<&str>> = csv.body.split_terminator("\r\n").map(|row| row.split(',').collect()).collect();
    assert_eq!(
        (rows.len(), rows[0][0], &rows[1][1..4], rows[1][8]),
        (2, "day", &["4", "3", "1"][..], "1000"),
        "{}",
        csv.body
    );
    let of_half = page.get(&format!("/ledger/usage.csv?days=30&tool={}", id("half"))).body;
    assert!(of_half.split("\r\n").nth(1).unwrap().contains(",3,2,1,"), "{of_half}");
    let tools = page.get("/ledger/tools.csv").body;
    assert!(tools.contains(&format!("{},quarter,1,1,0,", id("quarter"))), "{tools}");

    let shown = page.get("/ledger").body;
    for part in ["data-csv=\"ledger/usage.csv?days=30\"", "data-plot=\"ranking\"", ">quarter</a>", "1\u{202f}000"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let wrong = page.get("/ledger?days=8");
    assert!(wrong.status == 400 && wrong.body.contains("7, 30, 90 or 365"), "{wrong:?}");
    assert_eq!(page.get("/ledger?tool=nothing").status, 404);
    // Who calls a tool, and what it calls, is on its page.
    let half = page.get(&format!("/tools/{}", id("half"))).body;
    assert!(half.contains("<a href=\"tools/quarter\">quarter</a> <span class=\"quiet\">× 2</span>"), "{half}");
    let quarter = page.get(&format!("/tools/{}", id("quarter"))).body;
    assert!(quarter.contains("<a href=\"tools/half\">half</a> <span class=\"quiet\">× 2</span>"), "{quarter}");
    assert!(quarter.contains("<dt>balance</dt><dd>+100</dd>"), "{quarter}");
}

#[test]
fn a_run_is_compared_with_another_and_runs_again_from_its_receipt() {
    let policy = "[approval]\nmode = \"auto\"\n[audit]\nreceipts = true\n";
    let page = Page::open_under(policy);
    page.cli.file("half.js", "const execute = ({ n }) => { console.log('<b>', n); return n / 2 }\n");
    assert_eq!(page.run(&["create", "$half.js", "--description", "Halves"]).status, 0);
    for n in ["n:=8", "n:=9"] {
        assert_eq!(page.run(&["run", "half", n]).status, 0);
    }
    let runs = page.runs();
    let shown = page.get(&format!("/runs/{}", runs[0])).body;
    for part in ["{&quot;n&quot;:9}", ">4.5</pre>", "&lt;b&gt; 9", "Run again here"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let compared = page.get(&format!("/runs/{}?with={}", runs[0], runs[1])).body;
    assert!(compared.contains("<tr class=\"differs\"><th scope=\"row\">result</th>"), "{compared}");
    assert!(compared.contains("<tr><th scope=\"row\">caller</th>"), "{compared}");
    assert_eq!(page.get(&format!("/runs/{}?with=r_0123456789abcdef-1", runs[0])).status, 404);

    let receipt = page.get(&format!("/runs/{}/receipt.json", runs[0]));
    assert_eq!(receipt.header("content-disposition"), Some("attachment"));
    page.cli.file("kept.receipt", &receipt.body);
    assert_eq!(page.run(&["replay", "$kept.receipt"]).status, 0);
    let origin = format!("http://{}", page.host);
    let token = shown.split("name=\"form_token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let replay = format!("/runs/{}/replay", runs[0]);
    assert_eq!(page.post(&replay, "http://evil.example", &format!("form_token={token}")).status, 403);
    let again = page.post(&replay, &origin, &format!("form_token={token}"));
    assert!(again.status == 200 && again.body.contains("It came out the same"), "{again:?}");
    assert_eq!(page.runs().len(), 2);

    // What is not kept is not there, and says how it would be.
    page.cli.file("policy.toml", "[approval]\nmode = \"auto\"\n");
    assert_eq!(page.run(&["run", "half", "n:=1"]).status, 0);
    let without = page.get(&format!("/runs/{}/receipt.json", page.runs()[0]));
    assert!(without.status == 404 && without.body.contains("receipts = true"), "{without:?}");
    assert_eq!(page.run(&["gc", "--older-than", "0s"]).status, 0);
    assert_eq!(page.get(&format!("/runs/{}/receipt.json", runs[0])).status, 404);
}

#[test]
fn code_is_checked_run_and_saved_on_the_playground() {
    let page = Page::open();
    let code = "export const execute = ({ n, word }: { n: number; word?: string }) => { console.log(`<${word}>`); return n * 2 }";
    let schema = r#"{"n": {"type": "number", "required": true}, "word": {"type": "string", "description": "<i>"}}"#;
    let typed = [("code", code), ("schema", schema), ("p.n", "21"), ("p.word", "a\r\nb")];
    let ran = page.play("run", &typed);
    for part in
        [">42</pre>", "&lt;a\nb&gt;", "&lt;i&gt;", "playground/flame/", "{&quot;parameters&quot;:{&quot;n&quot;:21"]
    {
        assert!(ran.status == 200 && ran.body.contains(part), "{part}: {}", ran.body);
    }
    let image = ran.body.split("<a href=\"playground/flame/").nth(1).unwrap().split('"').next().unwrap();
    let drawn = page.get(&format!("/playground/flame/{image}"));
    assert_eq!((drawn.status, drawn.header("content-type")), (200, Some("image/svg+xml")));
    assert!(drawn.header("content-security-policy").unwrap().contains("sandbox"), "{}", drawn.head);
    assert_eq!(page.get("/playground/flame/00.svg").status, 404);
    assert_eq!(page.audited("exec")[0]["details"]["outcome"], "returned");

    // What is wrong is said beside what was typed.
    for (changed, says) in [
        (("p.n", "many"), "the parameter <code>n</code> is not JSON"),
        (("schema", "{"), "the text is not JSON"),
        (("code", "export const execute = ("), "data-severity=\"critical\""),
        (("code", "export const other = 1"), "the code defines no tool"),
        (("fuel", "lots"), "is not a whole number"),
        (("fuel", "99999999999999999999"), "is not a whole number"),
        (("code", "export const execute = () => { while (true); }"), "fuel"),
    ] {
        let mut fields: Vec<(&str, &str)> = typed.into_iter().filter(|(name, _)| *name != changed.0).collect();
        fields.extend([changed, ("timeout", "2000")]);
        let answer = page.play("run", &fields);
        assert!(answer.status == 200 && answer.body.contains(says), "{says}: {}", answer.body);
        assert!(answer.body.contains("a\nb</textarea>") || changed.0 == "schema", "{}", answer.body);
    }
    let check = page.play("check", &[("code", "export const execute = () => eval('1')")]);
    assert!(check.body.contains("data-line=\"1\"") && !check.body.contains("<h2>Result</h2>"), "{}", check.body);
    assert_eq!(page.post("/playground", "http://evil.example", "action=run&code=1&form_token=1").status, 403);
    let large = page.play("check", &[("code", &"x".repeat(3 << 20))]);
    assert!(large.status == 413 && large.body.contains("nothing was done"), "{large:?}");

    let example = r#"{"parameters":{"n":21},"result":42}"#;
    let taken = [&typed[..], &[("name", "waits"), ("description", "Doubles"), ("example", example)]].concat();
    let taken = page.play("save", &taken);
    assert!(taken.status == 200 && taken.body.contains("value=\"Doubles\""), "{taken:?}");
    let named =
        [&typed[..], &[("name", "twice"), ("description", "Doubles"), ("tags", "a, b"), ("example", example)]].concat();
    let saved = page.play("save", &named);
    assert_eq!(saved.status, 303, "{saved:?}");
    let tool = page.cli.run(&["show", "twice", "--json"]).json();
    assert_eq!((&tool["tags"], &tool["examples"][0]["result"]), (&json!(["a", "b"]), &json!(42)), "{tool}");
    let opened = page.get(&format!("/playground?tool={}", tool["id"].as_str().unwrap())).body;
    assert!(opened.contains("value=\"twice\"") && opened.contains("n: number; word?: string"), "{opened}");
}
