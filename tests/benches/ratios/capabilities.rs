//! Cost of host calls: no-op calls, requests compared with the HTTP library alone, and calls of
//! other tools.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use toolcell::policy::Layer;
use toolcell::store::{Durability, Settings, Store};
use toolcell::{
    CreateTool, HostFunction, HostFunctions, Params, Policy, PolicyFile, RunOptions, RunTool, Toolbox, ToolboxConfig,
};

use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

/// Number of host calls in a run that is compared with a run without any.
const CALLS: u32 = 1_000;
const RUNS: usize = 100;
/// Number of concurrent requests.
const FETCHES: usize = 100;

/// A tool that calls something this many times in sequence.
const LOOPS: &str = "const execute = async ({ times }) => { for (let i = 0; i < times; i++) await WHAT }";
const FETCH_ALL: &str = "const execute = async ({ url, times }) => \
    (await Promise.all(Array.from({ length: times }, async () => (await fetch(url)).text()))).length";

pub(crate) fn measure(table: &mut Table) {
    table.section("what is outside of the cell");
    let server = Server::start();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let toolbox = toolbox(folder.path(), server.at);
    for (name, what, targeted) in [
        ("function", "tools.call('nothing', {})", true),
        ("pair", "kv.get('k')", false),
        ("nested", "tools.call('empty', {})", false),
    ] {
        make(&toolbox, name, &LOOPS.replace("WHAT", what), &json!({ "tools": ["nothing", "empty"], "kv": true }));
        let (mut all, mut none) = (Series::default(), Series::default());
        for _ in 0..RUNS / 10 {
            all.time(10, || run(&toolbox, name, &json!({ "times": CALLS })));
            none.time(10, || run(&toolbox, name, &json!({ "times": 0 })));
        }
        let each = divided(all.median().minus(none.median()), CALLS);
        let reply = match name {
            "function" => "a call of a host's function that does nothing",
            "pair" => "a pair of a space that is read",
            _ => "a call of another tool that does nothing, recorded",
        };
        let row = Row::new(reply, each);
        table.row(if targeted { row.target(Target::AtMost(Figure::Time(8e-6))) } else { row });
    }
    make(&toolbox, "fetch_all", FETCH_ALL, &json!({ "net": ["127.0.0.1"] }));
    let tls = trusting_nobody();
    let (url, runtime) = (format!("http://{}/", server.at), Runtime::new().unwrap());
    let (mut ours, mut theirs) = (Series::default(), Series::default());
    for _ in 0..RUNS {
        server.settle();
        ours.time(1, || run(&toolbox, "fetch_all", &json!({ "url": url, "times": FETCHES })));
        server.settle();
        theirs.time(1, || runtime.block_on(alone(&url, &tls)));
    }
    let row = Row::new("100 requests side by side, beside the library alone", ours.median());
    table.row(row.beside(theirs.median()));
    let added = ours.median().minus(theirs.median());
    table.row(Row::new("  what the cell adds", added).target(Target::AtMost(Figure::Time(3e-3))));
}

fn divided(figure: Figure, by: u32) -> Figure {
    match figure {
        Figure::Time(seconds) => Figure::Time(seconds / f64::from(by)),
        other => other,
    }
}

/// Makes the same requests with the HTTP library alone.
async fn alone(url: &str, tls: &ClientConfig) -> usize {
    let client = reqwest::Client::builder().no_proxy().tls_backend_preconfigured(tls.clone()).build().unwrap();
    let mut all = JoinSet::new();
    for _ in 0..FETCHES {
        let (client, url) = (client.clone(), url.to_owned());
        all.spawn(async move { client.get(url).send().await.unwrap().text().await.unwrap() });
    }
    all.join_all().await.len()
}

/// Returns the TLS configuration that both sides set up once for all runs.
fn trusting_nobody() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}

fn toolbox(path: &Path, server: SocketAddr) -> Toolbox {
    let nothing = HostFunction::new("nothing", &Value::Null, &json!({}), |_| Ok(Value::Null)).unwrap();
    let functions = HostFunctions::default().with(nothing.inline().read_only()).unwrap();
    let port = server.port();
    let text = format!(
        "[approval]\nmode = \"auto\"\n[grants.default]\ntools = \"any\"\n[grants.default.kv]\nspace = \"bench\"\n\
         [[grants.default.net]]\nhost = \"127.0.0.1\"\nscheme = \"http\"\nports = [{port}]\naddresses = [\"127.0.0.1\"]\n\
         calls = 1000\n[limits]\noperations = 256\n"
    );
    let policy =
        Policy::from_layers([PolicyFile::parse(Layer::User, &text, Path::new("toolcell.toml")).unwrap()]).unwrap();
    let settings = Settings { durability: Durability::Unsynced, ..Settings::default() };
    let config = ToolboxConfig { policy, functions, ..ToolboxConfig::default() };
    let toolbox = Toolbox::with_store(Store::open(path, &settings).unwrap(), config).unwrap();
    make(&toolbox, "empty", "const execute = () => 1", &json!([]));
    toolbox
}

fn make(toolbox: &Toolbox, name: &str, code: &str, asks: &Value) {
    let (name, description, code) = (name.to_owned(), "A tool".to_owned(), code.to_owned());
    toolbox
        .create(&CreateTool { name, description, code, capabilities: asks.clone(), ..CreateTool::default() })
        .unwrap();
}

fn run(toolbox: &Toolbox, name: &str, params: &Value) {
    let request = RunTool::new(name, Params::parse(params.to_string()).unwrap());
    let ran = toolbox.run(&request, &RunOptions::default()).unwrap();
    assert!(ran.value().is_ok(), "{:?}", ran.report.outcome);
}

/// A server that answers each request with a few bytes, over persistent connections.
struct Server {
    at: SocketAddr,
    /// Number of open connections.
    open: Arc<AtomicUsize>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (at, open) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
        let server = Self { at, open: open.clone() };
        thread::spawn(move || {
            for connection in listener.incoming() {
                open.fetch_add(1, Ordering::SeqCst);
                let open = open.clone();
                thread::spawn(move || {
                    answer(connection.unwrap());
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        server
    }

    /// Waits until all connections are closed. Both sides close them after the end of a run, which
    /// would slow the next measurement.
    fn settle(&self) {
        while self.open.load(Ordering::SeqCst) > 0 {
            thread::sleep(Duration::from_micros(200));
        }
    }
}

fn answer(mut connection: TcpStream) {
    let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
    connection.set_nodelay(true).unwrap();
    while let Some(Ok(line)) = lines.next() {
        if line.is_empty() && connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").is_err() {
            return;
        }
    }
}
