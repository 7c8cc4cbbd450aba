//! Replies to requests, and assertions on them.
//!
//! Invariant: an operation that succeeded has a value, and one that failed has a code and no value;
//! every assertion checks both.

use serde_json::{Value, json};

/// The key of the stable error code in `_meta`.
const ERROR: &str = "toolcell/error";

/// The reply to a request, with the notifications received before it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) message: Value,
    pub(crate) notices: Vec<Value>,
}

impl Reply {
    /// Returns the result, and asserts that there is one.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        assert!(self.message.get("result").is_some(), "{}", self.message);
        self.message["result"].clone()
    }

    /// Asserts that the operation succeeded, and returns its value.
    #[track_caller]
    pub(crate) fn done(&self) -> Value {
        let result = self.result();
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Asserts that the operation succeeded, and returns its whole response for programs.
    #[track_caller]
    pub(crate) fn response(&self) -> Value {
        self.done();
        self.result()["_meta"]["toolcell/response"].clone()
    }

    /// Asserts that a run succeeded, and returns its measures.
    #[track_caller]
    pub(crate) fn measures(&self) -> Value {
        self.done();
        self.result()["_meta"]["toolcell/run"].clone()
    }

    /// Asserts that a run returned this value.
    #[track_caller]
    pub(crate) fn returns(&self, value: &Value) {
        assert_eq!(&self.done()["value"], value, "{}", self.message);
    }

    /// Asserts that the operation failed with this code, and returns the error.
    #[track_caller]
    pub(crate) fn fails(&self, code: &str) -> Value {
        let result = self.result();
        let error = result["_meta"][ERROR].clone();
        assert_eq!((&result["isError"], &error["code"]), (&json!(true), &json!(code)), "{result}");
        assert_eq!(result.get("structuredContent"), None, "{result}");
        error
    }

    /// Asserts that the request was rejected with this JSON-RPC error number, and returns the
    /// stable code.
    #[track_caller]
    pub(crate) fn is_refused_with(&self, number: i64) -> String {
        assert_eq!(self.message["error"]["code"], number, "{}", self.message);
        self.message["error"]["data"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the text for the model.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        self.result()["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Returns the progress notifications: the progress and the message of each.
    pub(crate) fn progress(&self) -> Vec<(f64, String)> {
        let notifications = self.notices.iter().filter(|notice| notice["method"] == "notifications/progress");
        let params = notifications.map(|notice| &notice["params"]);
        params
            .map(|it| (it["progress"].as_f64().unwrap(), it["message"].as_str().unwrap_or_default().to_owned()))
            .collect()
    }
}
