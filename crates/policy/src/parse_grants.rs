//! Converts the rules of a policy file into grants.
//!
//! Invariant: two statements about the same grant are equal, or the file is refused; and a relative
//! path is resolved against the policy file's folder, not the current directory.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use toml::Spanned;
use toolcell_i18n::{Localize as _, Message, message, msgid};
use toolcell_tool::Capability;
use toolcell_tool::{
    Access, CallableTools, FilesGrant, FolderName, GRANTS_LIMIT, GrantError, Grants, HOSTS_LIMIT, HostPattern, KvGrant,
    NetGrant, PathPrefix, SecretGrant, SecretName, ServerName, ServerToolName, ServerTools, ServersGrant, SpaceName,
    ToolId, parse_address_range,
};

use crate::grant_rules::{Rule, Scope};
use crate::problem::{PolicyParser, escape_for_display};
use crate::provenance::Sourced;
use crate::raw_grants::{
    OrFalse, RawFilesRule, RawKvRule, RawNetRule, RawRule, RawSecretRule, RawServerRule, RawServerRules, RawToolsRule,
};

/// A parsed value with its span.
struct Located<T> {
    value: T,
    span: Range<usize>,
}

impl PolicyParser<'_> {
    /// Converts one rule.
    pub(super) fn parse_rule(&mut self, key: String, scope: Scope, form: &RawRule) -> Rule {
        let mut says = BTreeMap::new();
        let all = Grants { timers: true, clock: true, random: true, ..Grants::default() };
        let whole =
            [(Capability::Timers, &form.timers), (Capability::Clock, &form.clock), (Capability::Random, &form.random)];
        for (capability, granted) in whole {
            let Some(granted) = granted else { continue };
            let value = if *granted.get_ref() { all.for_capability(capability) } else { Grants::default() };
            says.insert(capability, Sourced { value, origin: self.origin(&granted.span()) });
        }
        let none = Grants::default;
        let net = form.net.as_ref().map(|net| {
            self.parse_list(net, &key, Self::parse_net, Self::check_net_conflicts, |net| Grants { net, ..none() })
        });
        let files = form.files.as_ref().map(|files| {
            self.parse_list(files, &key, Self::parse_folder, Self::check_folder_conflicts, |files| Grants {
                files,
                ..none()
            })
        });
        let secrets = form.secrets.as_ref().map(|secrets| {
            self.parse_list(secrets, &key, Self::parse_secret, Self::check_secret_conflicts, |secrets| Grants {
                secrets,
                ..none()
            })
        });
        let kv = form.kv.as_ref().map(|kv| self.parse_kv(kv));
        let tools = form.tools.as_ref().map(|tools| self.parse_tools(tools));
        let servers = form.servers.as_ref().map(|servers| self.parse_server_grants(servers));
        for (capability, said) in [
            (Capability::Net, net),
            (Capability::Kv, kv),
            (Capability::Files, files),
            (Capability::Secrets, secrets),
            (Capability::Tools, tools),
            (Capability::Servers, servers),
        ] {
            if let Some(said) = said {
                says.insert(capability, said);
            }
        }
        let only = form.id.as_ref().and_then(|id| self.parse_only_tool(id, &key, &scope));
        Rule { key, scope, only_tool: only, grants: says }
    }

    /// Parses the tool identifier that a rule is restricted to.
    fn parse_only_tool(&mut self, id: &Spanned<String>, key: &str, scope: &Scope) -> Option<Sourced<ToolId>> {
        if !matches!(scope, Scope::Name(_)) {
            let message = message!("an `id` is only allowed in `grants.tools.NAME`, not in `{key}`", key);
            self.report(&id.span(), message);
            return None;
        }
        match id.get_ref().parse::<ToolId>() {
            Ok(value) => Some(Sourced { value, origin: self.origin(&id.span()) }),
            Err(_) => {
                let message =
                    msgid!("the full identifier is required, `dt_` and 64 digits: `toolcell show NAME` prints it");
                self.report(&id.span(), message);
                None
            }
        }
    }

    /// Converts the grants of a capability that takes a list of tables.
    fn parse_list<F, T>(
        &mut self,
        said: &Spanned<OrFalse<Vec<F>>>,
        key: &str,
        read: impl Fn(&mut Self, &F) -> Option<Located<T>>,
        differ: impl Fn(&mut Self, &[Located<T>]),
        grants: impl Fn(Vec<T>) -> Grants,
    ) -> Sourced<Grants> {
        let forms: &[F] = if let OrFalse::Granted(forms) = said.get_ref() { forms } else { &[] };
        // The conflict check compares all pairs.
        if forms.len() > GRANTS_LIMIT {
            let (count, limit) = (forms.len(), GRANTS_LIMIT);
            self.report(&said.span(), message!("`{key}` has {count} grants, the limit is {limit}", key, count, limit));
        }
        let read: Vec<Located<T>> = forms.iter().take(GRANTS_LIMIT).filter_map(|form| read(self, form)).collect();
        differ(self, &read);
        // The position of the list is that of its first table.
        let span = read.first().map_or_else(|| said.span(), |first| first.span.clone());
        let value = grants(read.into_iter().map(|placed| placed.value).collect()).canonicalize();
        Sourced { value, origin: self.origin(&span) }
    }

    fn parse_net(&mut self, form: &RawNetRule) -> Option<Located<NetGrant>> {
        let host = self.parse_text(&form.host, HostPattern::parse)?;
        let path = match &form.path {
            Some(path) => self.parse_text(path, PathPrefix::parse)?,
            None => PathPrefix::default(),
        };
        self.check_list_length(form.addresses.as_deref().unwrap_or_default(), form.host.get_ref(), |of, count| {
            let limit = HOSTS_LIMIT;
            message!("the grant for `{of}` has {count} address ranges, the limit is {limit}", of, count, limit)
        })?;
        let mut addresses = std::collections::BTreeSet::new();
        for text in form.addresses.iter().flatten() {
            addresses.insert(self.parse_text(text, parse_address_range)?);
        }
        let plain = NetGrant::new(host, form.scheme);
        let grant = NetGrant {
            path,
            addresses,
            ports: form.ports.as_ref().map_or(plain.ports, |ports| ports.iter().copied().collect()),
            methods: form.methods.as_ref().map_or(plain.methods, |methods| methods.iter().copied().collect()),
            request_bytes: form.request_bytes.unwrap_or(plain.request_bytes),
            response_bytes: form.response_bytes.unwrap_or(plain.response_bytes),
            calls: form.calls.unwrap_or(plain.calls),
            per_minute: form.per_minute.and_then(std::num::NonZeroU32::new),
            ..plain
        };
        let span = form.host.span();
        let at = form.addresses.iter().flatten().next().map_or_else(|| span.clone(), Spanned::span);
        self.report_error(grant.validate(), &at).map(|value| Located { value, span })
    }

    fn check_net_conflicts(&mut self, grants: &[Located<NetGrant>]) {
        let place = |grant: &NetGrant| {
            let NetGrant { host, scheme, ports, methods, path, .. } = grant.clone();
            (host, scheme, ports, methods, path)
        };
        self.check_conflicts(grants, place, |line| {
            message!("line {line} grants the same requests with other addresses or limits, keep one", line)
        });
    }

    fn parse_kv(&mut self, said: &Spanned<OrFalse<RawKvRule>>) -> Sourced<Grants> {
        let OrFalse::Granted(form) = said.get_ref() else {
            return Sourced { value: Grants::default(), origin: self.origin(&said.span()) };
        };
        let kv = self.parse_text(&form.space, SpaceName::parse).map(|space| {
            let plain = KvGrant::new(space);
            KvGrant {
                access: form.access.unwrap_or(plain.access),
                bytes: form.bytes.unwrap_or(plain.bytes),
                keys: form.keys.unwrap_or(plain.keys),
                value_bytes: form.value_bytes.unwrap_or(plain.value_bytes),
                ..plain
            }
        });
        Sourced { value: Grants { kv, ..Grants::default() }, origin: self.origin(&form.space.span()) }
    }

    fn parse_folder(&mut self, form: &RawFilesRule) -> Option<Located<FilesGrant>> {
        let name = self.parse_text(&form.name, FolderName::parse)?;
        let span = form.path.span();
        let text = form.path.get_ref();
        if text.starts_with('~') {
            let path = escape_for_display(text);
            self.report(&span, message!("`~` is not expanded in `{path}`: write the full path", path));
            return None;
        }
        let home = self.path.parent().unwrap_or(Path::new("")).to_owned();
        let path = if text.is_empty() { PathBuf::new() } else { normalize_path(&home.join(text)) };
        let path = if path.as_os_str().is_empty() && !text.is_empty() { PathBuf::from(".") } else { path };
        let plain = FilesGrant::new(name, path);
        let grant = FilesGrant {
            access: form.access.unwrap_or(plain.access),
            bytes: form.bytes.unwrap_or(plain.bytes),
            read_bytes: form.read_bytes.unwrap_or(plain.read_bytes),
            ..plain
        };
        if grant.access == Access::Write && normalize_path(&self.path).starts_with(&grant.path) {
            let message =
                msgid!("the folder contains this policy, and a tool could change it: grant a subfolder, or `read`");
            self.report(&span, message);
            return None;
        }
        let grant = self.report_error(grant.validate(), &span)?;
        self.folders.push((grant.path.clone(), grant.access, span.start));
        Some(Located { value: grant, span: form.name.span() })
    }

    fn check_folder_conflicts(&mut self, grants: &[Located<FilesGrant>]) {
        let name = |grant: &FilesGrant| grant.name.clone();
        self.check_conflicts(grants, name, |line| {
            message!("line {line} grants another folder with this name, give each its own name", line)
        });
    }

    fn parse_secret(&mut self, form: &RawSecretRule) -> Option<Located<SecretGrant>> {
        let name = self.parse_text(&form.name, SecretName::parse)?;
        self.check_list_length(&form.hosts, form.name.get_ref(), |of, count| {
            message!("the grant for `{of}` has {count} hosts, the limit is {limit}", of, count, limit = HOSTS_LIMIT)
        })?;
        let mut hosts = Vec::new();
        for host in &form.hosts {
            hosts.push(self.parse_text(host, HostPattern::parse)?);
        }
        let plain = SecretGrant::new(name, hosts);
        let into = form.into.as_ref().map_or(plain.into, |into| into.iter().copied().collect());
        let span = form.name.span();
        self.report_error(SecretGrant { into, ..plain }.validate(), &span).map(|value| Located { value, span })
    }

    fn check_secret_conflicts(&mut self, grants: &[Located<SecretGrant>]) {
        let name = |grant: &SecretGrant| grant.name.clone();
        self.check_conflicts(grants, name, |line| {
            message!("line {line} grants this secret differently, combine them in one table", line)
        });
    }

    fn parse_tools(&mut self, said: &Spanned<OrFalse<RawToolsRule>>) -> Sourced<Grants> {
        let tools = match said.get_ref() {
            OrFalse::Nothing => CallableTools::default(),
            OrFalse::Granted(RawToolsRule::Any) => CallableTools::Any,
            OrFalse::Granted(RawToolsRule::Named(names)) => {
                let mut sound = Vec::new();
                for name in names {
                    sound.extend(self.parse_text(name, CallableTools::parse_name));
                }
                CallableTools::from_names(sound)
            }
        };
        Sourced { value: Grants { tools, ..Grants::default() }, origin: self.origin(&said.span()) }
    }

    fn parse_server_grants(&mut self, said: &Spanned<OrFalse<RawServerRules>>) -> Sourced<Grants> {
        let mut servers = ServersGrant::default();
        if let OrFalse::Granted(rules) = said.get_ref() {
            for (name, rule) in rules {
                let Some(server) = self.parse_text(name, ServerName::parse) else { continue };
                let tools = match rule {
                    // The schema admits no other word.
                    RawServerRule::Word(word) => ServerTools::from_word(word),
                    RawServerRule::Named(names) => {
                        let names = names.iter().filter_map(|name| self.parse_text(name, ServerToolName::parse));
                        Some(ServerTools::from_names(names.collect::<Vec<_>>()))
                    }
                };
                if let Some(tools) = tools {
                    servers.add(server, tools);
                }
            }
        }
        let origin = self.origin(&said.span());
        let grants = self.report_error(Grants { servers, ..Grants::default() }.validate(), &said.span());
        Sourced { value: grants.unwrap_or_default(), origin }
    }

    /// Reports a list in a grant that is too long: the conflict check compares all pairs.
    fn check_list_length(
        &mut self,
        list: &[Spanned<String>],
        of: &str,
        message: impl FnOnce(String, usize) -> Message,
    ) -> Option<()> {
        let Some(first_beyond) = list.get(HOSTS_LIMIT) else { return Some(()) };
        self.report(&first_beyond.span(), message(escape_for_display(of), list.len()));
        None
    }

    /// Reports each grant that has the same subject as an earlier one and differs from it.
    fn check_conflicts<T: PartialEq, K: PartialEq>(
        &mut self,
        grants: &[Located<T>],
        about: impl Fn(&T) -> K,
        message: impl Fn(u32) -> Message,
    ) {
        for (at, grant) in grants.iter().enumerate() {
            let same = |earlier: &&Located<T>| about(&earlier.value) == about(&grant.value);
            if let Some(earlier) = grants[..at].iter().find(same)
                && earlier.value != grant.value
            {
                self.report(&grant.span, message(self.line(earlier.span.start)));
            }
        }
    }

    /// Reports conflicting rules of one tool. Confusable names denote the same tool.
    pub(super) fn check_rule_conflicts(&mut self, rules: &[(Range<usize>, Rule)]) {
        let mut first: HashMap<&Scope, &(Range<usize>, Rule)> = HashMap::new();
        for this in rules {
            let (span, rule) = this;
            let (earlier, other) = match first.entry(&rule.scope) {
                Entry::Occupied(found) => *found.get(),
                Entry::Vacant(free) => {
                    free.insert(this);
                    continue;
                }
            };
            if rule.only_tool.as_ref().map(|only| only.value) != other.only_tool.as_ref().map(|only| only.value) {
                let line = self.line(earlier.start);
                let message = message!(
                    "line {line} has another `id`: `{key}` is the same tool, keep one of the rules",
                    line,
                    key = other.key,
                );
                self.report(span, message);
            }
            let both = rule
                .grants
                .iter()
                .find(|(capability, said)| other.grants.get(capability).is_some_and(|other| other.value != said.value));
            if let Some((capability, _)) = both {
                let (line, name, key) = (self.line(earlier.start), capability.name(), &other.key);
                let message = message!(
                    "line {line} grants `{name}` differently: `{key}` is the same tool, keep one of the rules",
                    line,
                    name,
                    key,
                );
                self.report(span, message);
            }
        }
    }

    /// Parses a text, and reports a failure at its span.
    fn parse_text<T>(&mut self, text: &Spanned<String>, read: impl Fn(&str) -> Result<T, GrantError>) -> Option<T> {
        let read = read(text.get_ref());
        self.report_error(read, &text.span())
    }

    fn report_error<T>(&mut self, grant: Result<T, GrantError>, span: &Range<usize>) -> Option<T> {
        grant.map_err(|error| self.report(span, error.localize())).ok()
    }
}

/// Normalizes a path lexically: removes `.` and resolves `..`. Symlinks are not followed; the code
/// that opens the path does that.
fn normalize_path(path: &Path) -> PathBuf {
    let mut settled = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(settled.components().next_back(), Some(Component::Normal(_))) => {
                settled.pop();
            }
            Component::ParentDir if settled.has_root() => {}
            part => settled.push(part),
        }
    }
    settled
}
