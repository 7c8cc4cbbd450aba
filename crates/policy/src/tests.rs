//! Policy files: their settings, their merge and their errors.

mod errors;
mod external_tools;
mod flows;
mod grants;
mod layers;
mod schema;
mod servers;
mod types;

use std::path::Path;

use toolcell_tool::{Capabilities, Capability};
use toolcell_tool::{ToolId, ToolName};

use crate::{Grants, Layer, Policy, PolicyError, PolicyFile};

/// A file with every key.
const ALL: &str = r#"
language = "ja"
[limits]
fuel = 250_000_000_000
timeout_ms = 30_000
memory_mb = 64
output_bytes = 1_048_576
console_bytes = 65_536
operations = 64
[ceilings]
timeout_ms = 600_000
[store]
tools = 100
[audit]
contents = "digests"
required = true
[approval]
mode = "auto-safe"
[names]
reserved = ["bash", "read"]
[grants.default]
timers = true
clock = false
random = true
files = false
[grants.default.kv]
space = "notes"
access = "read"
bytes = 65_536
keys = 10
value_bytes = 1_024
[grants.tags.network]
timers = true
[grants.tools.fetch_json]
timers = true
kv = false
tools = ["sum", "avg"]
[[grants.tools.fetch_json.net]]
host = "api.example.com"
scheme = "https"
ports = [443, 8443]
methods = ["GET", "POST"]
path = "/v1"
addresses = ["10.1.0.0/16"]
request_bytes = 1_024
response_bytes = 65_536
calls = 10
per_minute = 60
[[grants.tools.fetch_json.net]]
host = "*.example.org"
[[grants.tools.fetch_json.files]]
name = "data"
path = "../data"
access = "read"
bytes = 1
read_bytes = 1_048_576
[[grants.tools.fetch_json.secrets]]
name = "API_TOKEN"
hosts = ["api.example.com"]
into = ["header", "query"]
[grants.tools.dt_0a0a0a0a]
timers = false
tools = "any"
[[hooks]]
name = "no-secrets"
command = ["python3", "hook.py"]
when = ["before", "after"]
timeout_ms = 5_000
tools = ["db-*"]
[[hooks]]
name = "house-rules"
tool = "house_rules"
[[hooks]]
name = "shared"
command = ["./pre.sh"]
protocol = "copilot"
env = ["EDITOR"]
[external_tools]
default = "ask"
[[external_tools.rules]]
tools = ["bash"]
args = { command = ["git *"] }
decision = "allow"
reason = "git is fine"
[types]
command = ["tsc"]
"#;

fn user(text: &str) -> Result<PolicyFile, PolicyError> {
    PolicyFile::parse(Layer::User, text, Path::new("config/user.toml"))
}

fn project(text: &str) -> Result<PolicyFile, PolicyError> {
    PolicyFile::parse(Layer::Project, text, Path::new("project/toolcell.toml"))
}

fn policy(of_user: &str, of_project: &str) -> Policy {
    Policy::from_layers([project(of_project).unwrap(), user(of_user).unwrap()]).unwrap()
}

fn name(text: &str) -> ToolName {
    ToolName::parse(text).unwrap()
}

/// Returns the grants of a tool that requests timers and the network.
fn granted(policy: &Policy, tool: &str, tags: &[&str]) -> Grants {
    let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
    policy.grants_for(
        ToolId::from_bytes([0x0a; 32]),
        &name(tool),
        &tags,
        &Capabilities::unscoped([Capability::Timers, Capability::Net]),
    )
}
