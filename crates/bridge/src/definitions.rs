//! The tools of a server, as it lists them.
//!
//! Invariant: a definition's digest covers all that the server says about the tool, and the names of server and tool: a
//! definition that a person trusted is the one that is called. Two tools that have the same name in code are not called.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use blake3::Hash;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcell_dts::{Detail, FunctionSchema};
use toolcell_schema::Schema;
use toolcell_tool::{ServerName, ServerToolName};

use crate::terms::SearchTerms;

/// The only field of the object as which a result is checked.
pub(crate) const RESULT_FIELD: &str = "result";

/// A tool of a server.
#[derive(Debug, Serialize, Deserialize)]
pub struct Definition {
    /// The name as the server says it.
    pub name: String,
    /// What it does, in the server's words; may be empty.
    pub description: String,
    /// The JSON Schema of its input.
    pub input: Value,
    /// The JSON Schema of its structured result, if it declares one.
    pub output: Option<Value>,
    /// The server's hints about its effects (MCP 2025-11-25, `ToolAnnotations`), as it sent them.
    pub hints: Value,
    #[serde(skip)]
    compiled: OnceLock<Compiled>,
    /// The digest, and the server that it is for.
    #[serde(skip)]
    digest: OnceLock<(ServerName, Hash)>,
    /// The words that it is found by.
    #[serde(skip)]
    search_terms: OnceLock<SearchTerms>,
}

/// The schemas, as far as they can be checked here.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) input: Option<Schema>,
    pub(crate) output: Option<Schema>,
}

impl Clone for Definition {
    fn clone(&self) -> Self {
        let Self { name, description, input, output, hints, .. } = self;
        Self::new(name.clone(), description.clone(), input.clone(), output.clone(), hints.clone())
    }
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        let fields = |it: &Self| (it.name.clone(), it.description.clone(), it.output.clone(), it.hints.clone());
        fields(self) == fields(other) && self.input == other.input
    }
}

impl Definition {
    /// Creates a definition.
    #[must_use]
    pub fn new(name: String, description: String, input: Value, output: Option<Value>, hints: Value) -> Self {
        Self {
            name,
            description,
            input,
            output,
            hints,
            compiled: OnceLock::new(),
            digest: OnceLock::new(),
            search_terms: OnceLock::new(),
        }
    }

    /// Returns the name in code.
    #[must_use]
    pub fn code_name(&self) -> Option<ServerToolName> {
        ServerToolName::parse(&self.name).ok()
    }

    /// Whether the server says that the tool only reads. It may lie.
    #[must_use]
    pub fn claims_to_read(&self) -> bool {
        self.hints.get("readOnlyHint").and_then(Value::as_bool) == Some(true)
    }

    /// Returns the digest of all that the server says about the tool: BLAKE3 over its canonical JSON (RFC 8785).
    #[must_use]
    pub fn digest(&self, server: &ServerName) -> Hash {
        let (of, known) = self.digest.get_or_init(|| (server.clone(), self.compute_digest(server)));
        if of == server { *known } else { self.compute_digest(server) }
    }

    fn compute_digest(&self, server: &ServerName) -> Hash {
        let Self { name, description, input, output, hints, .. } = self;
        let all = json!({
            "server": server.as_str(), "name": name, "description": description, "input": input, "output": output,
            "hints": hints,
        });
        // A number that RFC 8785 cannot write falls back to the text of the value, in the order in which it came.
        let canonical = serde_jcs::to_vec(&all).unwrap_or_else(|_| all.to_string().into_bytes());
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 definition of a server's tool");
        hasher.update(&canonical);
        hasher.finalize()
    }

    /// Returns the TypeScript declaration.
    #[must_use]
    pub fn declaration(&self, detail: Detail) -> String {
        toolcell_dts::describe(&self.function(), detail)
    }

    /// Returns the first sentence of the description.
    #[must_use]
    pub fn summary(&self) -> String {
        toolcell_dts::first_sentence(&self.description)
    }

    /// Returns the schemas as the declarations take them. A result that cannot be checked is not promised.
    #[must_use]
    pub fn function(&self) -> FunctionSchema<'_> {
        let output = self.output.as_ref().filter(|_| self.compiled().output.is_some());
        FunctionSchema { name: &self.name, description: &self.description, input: &self.input, output }
    }

    /// Returns the size of all texts, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let schemas = [Some(&self.input), self.output.as_ref(), Some(&self.hints)];
        let schemas = schemas.into_iter().flatten().map(|schema| schema.to_string().len());
        self.name.len() + self.description.len() + schemas.sum::<usize>()
    }

    /// Returns the words that the tool is found by, which are made once.
    pub(crate) fn search_terms(&self) -> &SearchTerms {
        let title = self.hints.get("title").and_then(Value::as_str).unwrap_or_default();
        self.search_terms.get_or_init(|| SearchTerms::new(&self.name, title, &self.description, &self.input))
    }

    pub(crate) fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let output = self.output.as_ref().map(|output| Schema::for_value(RESULT_FIELD, output));
            // The server checks an input that cannot be checked here.
            Compiled { input: Schema::compile(&self.input).ok(), output: output.and_then(Result::ok) }
        })
    }
}

/// The tools of a server.
#[derive(Debug, Default)]
pub struct Definitions {
    tools: BTreeMap<ServerToolName, Arc<Definition>>,
    collisions: BTreeMap<ServerToolName, Vec<String>>,
}

impl Definitions {
    pub(crate) fn new(all: impl IntoIterator<Item = Definition>) -> Self {
        let mut definitions = Self::default();
        for definition in all {
            let Some(name) = definition.code_name() else { continue };
            if let Some(names) = definitions.collisions.get_mut(&name) {
                names.push(definition.name);
            } else if let Some(first) = definitions.tools.remove(&name) {
                definitions.collisions.insert(name, vec![first.name.clone(), definition.name]);
            } else {
                definitions.tools.insert(name, Arc::new(definition));
            }
        }
        definitions
    }

    /// Returns the tools by their names in code, without those whose name several have.
    pub fn iter(&self) -> impl Iterator<Item = (&ServerToolName, &Arc<Definition>)> {
        self.tools.iter()
    }

    /// Returns the names that several tools have in code, each with their own names.
    pub fn collisions(&self) -> impl Iterator<Item = (&ServerToolName, &[String])> {
        self.collisions.iter().map(|(name, tools)| (name, tools.as_slice()))
    }

    /// Returns a tool by its name in code.
    ///
    /// # Errors
    /// The message for a name that no tool or several tools have.
    pub fn find(&self, server: &ServerName, name: &ServerToolName) -> Result<&Arc<Definition>, String> {
        match (self.tools.get(name), self.collisions.get(name)) {
            (Some(tool), _) => Ok(tool),
            (None, None) => {
                Err(format!("`{server}` has no tool `{name}`; `servers.$search(\"…\")` finds those that it has"))
            }
            (None, Some(names)) => Err(format!(
                "several tools of `{server}` are `{name}` in code, so none of them is called: {}",
                names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> Definition {
        Definition::new(name.to_owned(), description.to_owned(), json!({ "type": "object" }), None, Value::Null)
    }

    #[test]
    fn tools_of_one_name_in_code_are_refused_with_all_their_names() {
        let all = Definitions::new(["a-b", "a_b", "c", "a.b"].map(|name| tool(name, "")));
        let server = ServerName::parse("s").unwrap();
        let find = |name: &str| all.find(&server, &ServerToolName::parse(name).unwrap()).cloned();
        assert_eq!(find("c").unwrap().name, "c");
        assert_eq!(
            find("a_b").unwrap_err(),
            "several tools of `s` are `a_b` in code, so none of them is called: \"a-b\", \"a_b\", \"a.b\""
        );
        assert!(find("d").unwrap_err().starts_with("`s` has no tool `d`"));
    }

    #[test]
    fn a_digest_covers_all_that_is_said() {
        let server = ServerName::parse("s").unwrap();
        let plain = tool("a", "b").digest(&server);
        assert_eq!(tool("a", "b").digest(&server), plain);
        let mut changed = tool("a", "b");
        changed.hints = json!({ "readOnlyHint": true });
        let others = [tool("b", "b"), tool("a", "c"), changed];
        assert!(others.iter().all(|other| other.digest(&server) != plain));
        assert_ne!(tool("a", "b").digest(&ServerName::parse("t").unwrap()), plain);
    }
}
