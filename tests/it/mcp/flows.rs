//! Rules about flows of data, and what a client says that it knows.

use serde_json::{Value, json};

use super::raw_client::RawClient;
use super::reply::Reply;
use super::server::BinaryFixture;

const POLICY: &str = r#"
[approval]
mode = "auto"
[grants.default.kv]
space = "notes"
[grants.drafts.kv]
space = "notes"
[[flows]]
from = ["server:mail", "tool:put"]
to = ["kv:notes:writes"]
do = "deny"
"#;
const CODE: &str = "const execute = () => kv.set('a', 1).then(() => 'put', (e) => e.code)";

fn request(peer: &mut RawClient, name: &str, arguments: Value, context: Option<Value>) -> Reply {
    let mut params = json!({ "name": name, "arguments": arguments });
    if let Some(context) = context {
        params["_meta"] = json!({ "toolcell/context": context });
    }
    peer.request("tools/call", params)
}

#[test]
fn results_carry_labels_and_a_client_says_what_it_knows() {
    let home = BinaryFixture::new(POLICY);
    let mut peer = home.start_stdio(&[]).in_session(json!({}));
    let tool = json!({ "name": "put", "description": "Puts", "code": CODE, "capabilities": ["kv"] });
    peer.call("create_tool", tool).done();
    let run = json!({ "tool_name": "put" });
    let code = json!({ "code": CODE, "parameters": {} });
    for (name, arguments) in [("run_dynamic_tool", &run), ("run_code", &code)] {
        let reply = request(&mut peer, name, arguments.clone(), Some(json!(["server:mail.read"])));
        reply.returns(&json!("flow-refused"));
        let labels = &reply.result()["_meta"]["toolcell/labels"];
        assert!(labels.as_array().unwrap().contains(&json!("server:mail.read")), "{labels}");
        // What is no list of sources counts as all.
        for context in [json!("server:mail.read"), json!(["nonsense"]), json!([7])] {
            request(&mut peer, name, arguments.clone(), Some(context)).returns(&json!("flow-refused"));
        }
        let reply = request(&mut peer, name, arguments.clone(), Some(json!([])));
        reply.returns(&json!("put"));
        let labels = &reply.result()["_meta"]["toolcell/labels"];
        assert!(!labels.as_array().unwrap().contains(&json!("server:mail.read")), "{labels}");
    }
    // A client that says nothing is held to what it was told: by this tool.
    request(&mut peer, "run_dynamic_tool", run.clone(), None).returns(&json!("put"));
    request(&mut peer, "run_dynamic_tool", run, None).returns(&json!("flow-refused"));
}
