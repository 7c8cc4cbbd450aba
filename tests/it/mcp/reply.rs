//! What came of a request, and what a test claims of it.
//!
//! Invariant: an operation that was done has a value, and one that was not has a code and none; whoever asks for one of them
//! asks for all of that.

use serde_json::{Value, json};

/// What a failure is under, for programs.
const ERROR: &str = "toolcell/error";

/// What came of a request: its answer, and what was told while it was under way.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) message: Value,
    pub(crate) notices: Vec<Value>,
}

impl Reply {
    /// What a request gives that is answered.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        assert!(self.message.get("result").is_some(), "{}", self.message);
        self.message["result"].clone()
    }

    /// The value of an operation that was done.
    #[track_caller]
    pub(crate) fn done(&self) -> Value {
        let result = self.result();
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// A run came to this.
    #[track_caller]
    pub(crate) fn returns(&self, value: &Value) {
        assert_eq!(&self.done()["value"], value, "{}", self.message);
    }

    /// An operation failed, with this code; gives what else is said of it.
    #[track_caller]
    pub(crate) fn fails(&self, code: &str) -> Value {
        let result = self.result();
        let error = result["_meta"][ERROR].clone();
        assert_eq!((&result["isError"], &error["code"]), (&json!(true), &json!(code)), "{result}");
        assert_eq!(result.get("structuredContent"), None, "{result}");
        error
    }

    /// A request was refused, with this number; gives the code.
    #[track_caller]
    pub(crate) fn is_refused_with(&self, number: i64) -> String {
        assert_eq!(self.message["error"]["code"], number, "{}", self.message);
        self.message["error"]["data"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The text that a model reads.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        self.result()["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// What was told of the progress of the request: how far, and the message.
    pub(crate) fn progress(&self) -> Vec<(f64, String)> {
        let told = self.notices.iter().filter(|notice| notice["method"] == "notifications/progress");
        let params = told.map(|notice| &notice["params"]);
        params
            .map(|it| (it["progress"].as_f64().unwrap(), it["message"].as_str().unwrap_or_default().to_owned()))
            .collect()
    }
}
