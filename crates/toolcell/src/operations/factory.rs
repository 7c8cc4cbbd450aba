//! What a source declares of its tools: the manifest, read in a cell without grants.

use serde_json::Value;
use toolcell_host::{CallContext, Outcome, Params};
use toolcell_i18n::{Localize as _, Message, message};

use crate::admission::{CallAuthorization, UngrantedCall};
use crate::parts::Parts;
use crate::vet::VettedTool;

/// The maximum size of a manifest, in bytes of JSON. It describes several tools, each with its
/// parameters.
const MAX_MANIFEST_BYTES: usize = 256 * 1024;

/// What a source declares of one of its tools.
pub(super) struct DeclaredTool {
    /// The name; a factory's tool has one.
    pub(super) name: Option<String>,
    /// The description.
    pub(super) description: Option<String>,
    /// The parameters: `null`, or a JSON Schema.
    pub(super) parameters: Value,
}

/// Evaluates a source in a cell without grants and returns the tools that it declares, in order.
///
/// # Errors
/// Why the source cannot be evaluated: it throws, is stopped by a limit, or declares too much.
pub(super) fn declared_tools(parts: &Parts, name: &str, tool: &VettedTool) -> Result<Vec<DeclaredTool>, Message> {
    let args = parts.runtime.any_schema().check(Params::default()).map_err(|error| error.localize())?;
    let call = UngrantedCall::for_analysis(args);
    let authorization = CallAuthorization::without_host_calls(&call);
    let evaluated = parts.runtime.evaluate(name, tool.script(), authorization, &CallContext::default());
    let kept = match evaluated.map_err(|error| error.localize())? {
        Ok(kept) => kept,
        Err(report) => {
            return Err(match report.outcome {
                Outcome::Threw(thrown) => Message::verbatim(format!("{}: {}", thrown.name, thrown.message)),
                Outcome::Stopped(stop) => stop.localize(),
                Outcome::Returned(_) => message!("it returns no tool"),
            });
        }
    };
    let manifest = kept.manifest().as_str();
    if manifest.len() > MAX_MANIFEST_BYTES {
        return Err(message!(
            "its tool descriptions are {bytes} bytes, the limit is {limit}",
            bytes = manifest.len(),
            limit = MAX_MANIFEST_BYTES
        ));
    }
    let mut manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    let tools = manifest["tools"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let declared = tools.into_iter().map(|mut tool| DeclaredTool {
        name: text(&tool["name"]),
        description: text(&tool["description"]),
        parameters: tool["parameters"].take(),
    });
    Ok(declared.collect())
}
