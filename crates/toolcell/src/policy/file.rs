//! Reads a policy file: first its shape, then its meaning.
//!
//! Invariant: a [`PolicyFile`] has no contradiction in it, and every value knows its line.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use blake3::Hash;
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};
use toolcell_store::audit::Contents;
use toolcell_tool::{IdPrefix, Lang, TAG_LIMIT, ToolName};

use crate::gate::refused_variable;
use crate::policy::WhenUnrecorded;
use crate::policy::approval::ApprovalMode;
use crate::policy::command::{GATE_TIMEOUT, GateCommand, NamePattern};
use crate::policy::duplicates::Duplicates;
use crate::policy::form::{ContentsForm, Form, GateForm, GrantsForm, LangForm, LimitsForm};
use crate::policy::grants::{Rules, Scope};
use crate::policy::limits::{Limit, PerLimit};
use crate::policy::origin::{Layer, Stated, keyed};
use crate::policy::problem::{FolderAt, PolicyError, Reading, shown};
use crate::policy::schema::SCHEMA;

/// The longest file, in bytes. A project's comes from anybody.
const FILE_LIMIT: usize = 256 * 1024;
/// The longest name of a gate, in characters.
const GATE_NAME_LIMIT: usize = 64;

/// A policy file that was read.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use toolcell::policy::{Layer, PolicyFile};
///
/// let path = Path::new("toolcell.toml");
/// assert!(PolicyFile::parse(Layer::User, "[limits]\nfuel = 50_000", path).is_ok());
/// let error = PolicyFile::parse(Layer::User, "[limits]\nfule = 50_000", path).unwrap_err();
/// assert_eq!(error.code(), "policy-invalid");
/// assert!(error.to_string().starts_with("toolcell.toml:2:1: `limits` has no `fule`, did you mean `fuel`?"));
/// ```
#[derive(Debug, Clone)]
pub struct PolicyFile {
    pub(super) layer: Layer,
    pub(super) path: Arc<Path>,
    pub(super) hash: Hash,
    pub(super) language: Option<Stated<Lang>>,
    pub(super) limits: PerLimit<Option<Stated<u64>>>,
    pub(super) ceilings: PerLimit<Option<Stated<u64>>>,
    pub(super) tools: Option<Stated<u64>>,
    pub(super) duplicates: Option<Stated<Duplicates>>,
    pub(super) failures: Option<Stated<u64>>,
    pub(super) repetitions: Option<Stated<u64>>,
    pub(super) contents: Option<Stated<Contents>>,
    pub(super) when_unrecorded: Option<Stated<WhenUnrecorded>>,
    pub(super) approval: Option<Stated<ApprovalMode>>,
    pub(super) reserved: Vec<Stated<ToolName>>,
    pub(super) grants: Option<Rules>,
    pub(super) folders: Vec<FolderAt>,
    pub(super) gates: Vec<GateCommand>,
}

impl PolicyFile {
    /// Reads the text of a file. The path is for messages, and its folder for the commands of gates.
    ///
    /// # Errors
    /// `policy-invalid`, with all that is wrong.
    pub fn parse(layer: Layer, text: &str, path: &Path) -> Result<Self, PolicyError> {
        let mut reading = Reading::new(layer, text, path);
        let form = reading.form()?;
        let file = reading.file(form);
        reading.verdict()?;
        Ok(file)
    }

    /// Whose file it is.
    #[must_use]
    pub const fn layer(&self) -> Layer {
        self.layer
    }

    /// Its path, as it was handed in.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The blake3 hash of its text: what a user trusts who lets its gates run.
    #[must_use]
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// The commands that it wants to be asked.
    #[must_use]
    pub fn gates(&self) -> &[GateCommand] {
        &self.gates
    }
}

impl Reading<'_> {
    /// What is left of the file without what no file can say, which is noted.
    fn form(&mut self) -> Result<Form, PolicyError> {
        if self.text.len() > FILE_LIMIT {
            self.wrong(&(0..0), format!("the file has {} bytes, the limit is {FILE_LIMIT}", self.text.len()));
            self.verdict()?;
        }
        let (mut table, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            self.wrong(&error.span().unwrap_or_default(), error.message().replace('\n', ", "));
        }
        // What follows from broken syntax would be guessing.
        self.verdict()?;
        let span = table.span();
        self.prune("", &span, table.get_mut(), &SCHEMA);
        Form::deserialize(Deserializer::from(table)).or_else(|error| {
            self.wrong(&error.span().unwrap_or_default(), error.message());
            self.verdict().map(|()| Form::default())
        })
    }

    fn file(&mut self, form: Form) -> PolicyFile {
        let hash = blake3::hash(self.text.as_bytes());
        self.limits_below_ceilings(&form.limits, &form.ceilings);
        PolicyFile {
            layer: self.layer,
            path: Arc::clone(&self.path),
            hash,
            language: self.stated(form.language.as_ref(), |lang| match lang {
                LangForm::En => Lang::En,
                LangForm::Ja => Lang::Ja,
                LangForm::Zh => Lang::Zh,
            }),
            limits: self.limits(&form.limits),
            ceilings: self.limits(&form.ceilings),
            tools: self.stated(form.store.tools.as_ref(), |tools| tools),
            duplicates: self.stated(form.store.duplicates.as_ref(), |what| what),
            failures: self.stated(form.reflection.failures.as_ref(), |many| many),
            repetitions: self.stated(form.reflection.repetitions.as_ref(), |many| many),
            contents: self.stated(form.audit.contents.as_ref(), |contents| match contents {
                ContentsForm::Digests => Contents::Digests,
                ContentsForm::Verbatim => Contents::Verbatim,
            }),
            when_unrecorded: self.stated(form.audit.required.as_ref(), |required| {
                if required { WhenUnrecorded::Refuse } else { WhenUnrecorded::Run }
            }),
            approval: self.stated(form.approval.mode.as_ref(), |mode| mode),
            reserved: self.reserved(&form.names.reserved),
            grants: form.grants.as_ref().map(|grants| self.rules(grants)),
            folders: self.folders(),
            gates: self.gates(form.gates, hash),
        }
    }

    fn stated<T: Copy, U>(&self, value: Option<&Spanned<T>>, meaning: impl Fn(T) -> U) -> Option<Stated<U>> {
        value.map(|value| Stated { value: meaning(*value.get_ref()), origin: self.origin(&value.span()) })
    }

    fn limits(&self, form: &LimitsForm) -> PerLimit<Option<Stated<u64>>> {
        PerLimit::from_fn(|limit| self.stated(form.get(limit), |value| value))
    }

    fn limits_below_ceilings(&mut self, limits: &LimitsForm, ceilings: &LimitsForm) {
        for which in Limit::ALL {
            let (Some(limit), Some(ceiling)) = (limits.get(which), ceilings.get(which)) else { continue };
            if limit.get_ref() > ceiling.get_ref() {
                let (name, line) = (which.name(), self.line(ceiling.span().start));
                let message = format!("`limits.{name}` is {limit}, and its ceiling in line {line} is {ceiling}");
                self.wrong(&limit.span(), message);
            }
        }
    }

    fn reserved(&mut self, names: &[Spanned<String>]) -> Vec<Stated<ToolName>> {
        let mut reserved = Vec::new();
        for name in names {
            match ToolName::parse(name.get_ref()) {
                Ok(value) => reserved.push(Stated { value, origin: self.origin(&name.span()) }),
                Err(error) => self.wrong(&name.span(), format!("`names.reserved`: {error}")),
            }
        }
        reserved
    }

    fn rules(&mut self, grants: &Spanned<GrantsForm>) -> Rules {
        let form = grants.get_ref();
        let mut rules = vec![self.rule("grants.default".to_owned(), Scope::Default, &form.default)];
        for (tag, rule) in &form.tags {
            if let Some(scope) = self.tag(tag) {
                rules.push(self.rule(format!("grants.tags.{}", keyed(tag.get_ref())), scope, rule));
            }
        }
        let mut of_tools = Vec::new();
        for (tool, rule) in &form.tools {
            if let Some(scope) = self.tool(tool) {
                let rule = self.rule(format!("grants.tools.{}", keyed(tool.get_ref())), scope, rule);
                of_tools.push((tool.span(), rule));
            }
        }
        of_tools.sort_by_key(|(span, _)| span.start);
        self.rules_differ(&of_tools);
        rules.extend(of_tools.into_iter().map(|(_, rule)| rule));
        Rules { origin: self.origin(&grants.span()), rules }
    }

    fn tag(&mut self, tag: &Spanned<String>) -> Option<Scope> {
        let text = tag.get_ref();
        if text.trim().is_empty() {
            self.wrong(&tag.span(), "a tag is empty");
        } else if text.trim() != text || text.chars().any(char::is_control) || text.len() > TAG_LIMIT {
            let message = "no tool has this tag: tags have no spaces around them, no control characters, and at most";
            self.wrong(&tag.span(), format!("{message} {TAG_LIMIT} bytes"));
        } else {
            return Some(Scope::Tag(text.clone()));
        }
        None
    }

    fn tool(&mut self, tool: &Spanned<String>) -> Option<Scope> {
        if let Ok(prefix) = IdPrefix::parse(tool.get_ref()) {
            return Some(Scope::of_id(&prefix));
        }
        match ToolName::parse(tool.get_ref()) {
            Ok(name) => Some(Scope::of_name(&name)),
            Err(error) => {
                self.wrong(&tool.span(), format!("neither the name nor the identifier of a tool: {error}"));
                None
            }
        }
    }

    fn gates(&mut self, forms: Vec<GateForm>, hash: Hash) -> Vec<GateCommand> {
        let mut lines = BTreeMap::new();
        let mut gates = Vec::new();
        for form in forms {
            let span = form.name.span();
            self.gate_name(form.name.get_ref(), &span);
            let line = self.line(span.start);
            match lines.entry(form.name.get_ref().clone()) {
                Entry::Vacant(free) => {
                    free.insert(line);
                }
                Entry::Occupied(taken) => {
                    let (line, name) = (taken.get(), shown(taken.key()));
                    self.wrong(&span, format!("the gate in line {line} has the name `{name}` already"));
                }
            }
            gates.push(self.gate(form, hash));
        }
        gates
    }

    fn gate_name(&mut self, name: &str, span: &Range<usize>) {
        let length = name.chars().count();
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            self.wrong(span, "a gate needs a name that can be shown");
        } else if length > GATE_NAME_LIMIT {
            self.wrong(span, format!("the name of a gate has {length} characters, the limit is {GATE_NAME_LIMIT}"));
        }
    }

    fn gate(&mut self, form: GateForm, file_hash: Hash) -> GateCommand {
        let command = form.command.get_ref();
        if command.first().is_none_or(String::is_empty) {
            self.wrong(&form.command.span(), "the command of a gate begins with its program, which is empty");
        } else if command.iter().any(|word| word.contains('\0')) {
            self.wrong(&form.command.span(), "no word of a command has U+0000 in it");
        }
        let tools = form.tools.iter().flatten().filter_map(|text| self.pattern(text)).collect();
        let env = form.env.iter().flatten().filter_map(|name| self.variable(name)).collect();
        GateCommand {
            origin: self.origin(&form.name.span()),
            name: form.name.into_inner(),
            command: form.command.into_inner(),
            when: form.when.into_iter().collect(),
            timeout: Duration::from_millis(form.timeout_ms.map_or(GATE_TIMEOUT, Spanned::into_inner)),
            tools,
            layer: self.layer,
            file_hash,
            folder: self.path.parent().map_or_else(PathBuf::new, Path::to_owned),
            env,
        }
    }

    /// A variable that a hook gets.
    fn variable(&mut self, name: &Spanned<String>) -> Option<String> {
        if let Some(why) = refused_variable(name.get_ref()) {
            let shown = shown(name.get_ref());
            self.wrong(&name.span(), format!("`gates.env` cannot name `{shown}`: {why}"));
            return None;
        }
        Some(name.get_ref().clone())
    }

    fn pattern(&mut self, text: &Spanned<String>) -> Option<NamePattern> {
        let pattern = NamePattern::parse(text.get_ref());
        if pattern.is_none() {
            let shown = shown(text.get_ref());
            let message = format!("`{shown}` is no name of a tool, and no beginning of one with a `*` behind it");
            self.wrong(&text.span(), message);
        }
        pattern
    }
}
