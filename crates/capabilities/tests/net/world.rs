//! Servers, names and runs.

mod server;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcell_capabilities::{
    Meters, Net, NetConfig, NetSession, NetSessionConfig, OperationError, Redirect, Request, Resolve, Response, Roots,
    Secret,
};
use toolcell_tool::NetGrant;

pub(crate) use server::{Answer, Raw, Server, answer, head, lead, read_head};

/// Resolves names as a test says: one answer after the other, the last for ever.
#[derive(Default)]
pub(crate) struct Names(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Names {
    pub(crate) fn with(self, host: &str, answers: &[&[&str]]) -> Self {
        let answers = answers.iter().map(|answer| answer.iter().map(|text| text.parse().unwrap()).collect()).collect();
        self.0.lock().unwrap().insert(host.to_owned(), answers);
        self
    }

    /// Each of these is this machine.
    pub(crate) fn local(hosts: &[&str]) -> Self {
        hosts.iter().fold(Self::default(), |names, host| names.with(host, &[&["127.0.0.1"]]))
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        let mut names = self.0.lock().unwrap();
        let found = names.get_mut(host).map(|answers| {
            if answers.len() > 1 { answers.remove(0) } else { answers.first().cloned().unwrap_or_default() }
        });
        Box::pin(async move { found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)) })
    }
}

/// Every name is this machine.
pub(crate) struct Everywhere;

impl Resolve for Everywhere {
    fn resolve<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
    }
}

pub(crate) fn net(resolver: impl Resolve + 'static) -> Net {
    Net::new(NetConfig { roots: Roots::System, resolver: Arc::new(resolver) }).unwrap()
}

/// A run by grants, and secrets with their values, as JSON.
pub(crate) fn start(net: &Net, grants: &[Value], secrets: &[(Value, &str)]) -> NetSession {
    let grants = grants.iter().map(|grant| serde_json::from_value::<NetGrant>(grant.clone()).unwrap()).collect();
    let secret = |(grant, value): &(Value, &str)| {
        (serde_json::from_value(grant.clone()).unwrap(), Secret::parse((*value).to_owned()).unwrap())
    };
    let secrets = secrets.iter().map(secret).collect();
    net.start(NetSessionConfig { grants, secrets, ..run("tool") })
}

/// A run of a tool with nothing granted.
pub(crate) fn run(tool: &str) -> NetSessionConfig {
    NetSessionConfig {
        tool: tool.to_owned(),
        run: "run-1".to_owned(),
        grants: Vec::new(),
        secrets: Vec::new(),
        other_secrets: Vec::new(),
        meters: Meters::default(),
        caller: None,
    }
}

/// A run that may do all to these hosts at this port of this machine, by http.
pub(crate) fn local(port: u16, hosts: &[&str]) -> NetSession {
    let grants: Vec<Value> = hosts.iter().map(|host| granting(host, port)).collect();
    start(&net(Names::local(hosts)), &grants, &[])
}

pub(crate) fn granting(host: &str, port: u16) -> Value {
    let methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
    json!({"host": host, "scheme": "http", "ports": [port], "methods": methods, "addresses": ["127.0.0.0/8"]})
}

/// The same with other members.
pub(crate) fn granting_with(host: &str, port: u16, more: &Value) -> Value {
    let mut grant = granting(host, port);
    for (key, value) in more.as_object().unwrap() {
        grant[key] = value.clone();
    }
    grant
}

pub(crate) fn get(url: &str) -> Request {
    let (url, method) = (url.to_owned(), "GET".to_owned());
    Request { url, method, headers: Vec::new(), redirect: Redirect::Follow, body: None }
}

pub(crate) fn post(url: &str, body: &str) -> Request {
    Request { method: "POST".to_owned(), body: Some(body.as_bytes().to_vec()), ..get(url) }
}

pub(crate) fn header(name: &str, value: &str, request: Request) -> Request {
    let mut request = request;
    request.headers.push((name.to_owned(), value.to_owned()));
    request
}

/// The whole of a body.
pub(crate) async fn whole(response: &mut Response) -> Result<Vec<u8>, OperationError> {
    let mut whole = Vec::new();
    while let Some(piece) = response.body.read().await? {
        assert!(!piece.is_empty() && piece.len() <= 65_536, "{}", piece.len());
        whole.extend(piece);
    }
    assert_eq!(response.body.read().await, Ok(None));
    Ok(whole)
}

/// An answer and the text of its body.
pub(crate) async fn text(run: &NetSession, request: Request) -> (Response, String) {
    let mut response = run.fetch(1, request).await.unwrap();
    let text = String::from_utf8(whole(&mut response).await.unwrap()).unwrap();
    (response, text)
}

/// A failure, which is never without a cause and a next step.
pub(crate) async fn failure(run: &NetSession, request: Request) -> OperationError {
    let failure = run.fetch(1, request).await.unwrap_err();
    assert!(failure.message.len() > 30 && !failure.message.contains('\n'), "{failure:?}");
    failure
}

/// The value of a header of an answer.
pub(crate) fn value<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}
