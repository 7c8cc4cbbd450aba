//! What the rules of a policy file grant.
//!
//! Invariant: two statements about one thing are the same statement, or the file is refused; and a path is that of this file's
//! folder, whatever the current directory is.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use toml::Spanned;
use toolcell_analysis::Capability;
use toolcell_tool::{
    Access, Callees, FilesGrant, FolderName, GRANTS_LIMIT, GrantError, Grants, HOSTS_LIMIT, HostPattern, KvGrant,
    NetGrant, PathPrefix, SecretGrant, SecretName, SpaceName, ToolId, parse_addresses,
};

use crate::policy::grants::{Rule, Scope};
use crate::policy::origin::Stated;
use crate::policy::problem::{Reading, shown};
use crate::policy::rule::{CalleesForm, FilesForm, KvForm, NetForm, RuleForm, Said, SecretForm};

/// Something that was read, and where it stands.
struct Placed<T> {
    value: T,
    span: Range<usize>,
}

impl Reading<'_> {
    /// A rule of the file.
    pub(super) fn rule(&mut self, key: String, scope: Scope, form: &RuleForm) -> Rule {
        let mut says = BTreeMap::new();
        let all = Grants { timers: true, clock: true, random: true, ..Grants::default() };
        let whole =
            [(Capability::Timers, &form.timers), (Capability::Clock, &form.clock), (Capability::Random, &form.random)];
        for (capability, granted) in whole {
            let Some(granted) = granted else { continue };
            let value = if *granted.get_ref() { all.of(capability) } else { Grants::default() };
            says.insert(capability, Stated { value, origin: self.origin(&granted.span()) });
        }
        let none = Grants::default;
        let net = form
            .net
            .as_ref()
            .map(|net| self.several(net, &key, Self::net, Self::nets_differ, |net| Grants { net, ..none() }));
        let files = form.files.as_ref().map(|files| {
            self.several(files, &key, Self::folder, Self::folders_differ, |files| Grants { files, ..none() })
        });
        let secrets = form.secrets.as_ref().map(|secrets| {
            self.several(secrets, &key, Self::secret, Self::secrets_differ, |secrets| Grants { secrets, ..none() })
        });
        let kv = form.kv.as_ref().map(|kv| self.kv(kv));
        let tools = form.tools.as_ref().map(|tools| self.tools(tools));
        for (capability, said) in [
            (Capability::Net, net),
            (Capability::Kv, kv),
            (Capability::Files, files),
            (Capability::Secrets, secrets),
            (Capability::Tools, tools),
        ] {
            if let Some(said) = said {
                says.insert(capability, said);
            }
        }
        let only = form.id.as_ref().and_then(|id| self.only(id, &key, &scope));
        Rule { key, scope, only, says }
    }

    /// The one tool that a rule is for.
    fn only(&mut self, id: &Spanned<String>, key: &str, scope: &Scope) -> Option<Stated<ToolId>> {
        if !matches!(scope, Scope::Name(_)) {
            self.wrong(&id.span(), format!("`{key}` is not of a name: an `id` stands in `grants.tools.NAME`"));
            return None;
        }
        match id.get_ref().parse::<ToolId>() {
            Ok(value) => Some(Stated { value, origin: self.origin(&id.span()) }),
            Err(_) => {
                let message =
                    "the whole identifier has to stand here, `dt_` and 64 digits: `toolcell show NAME` prints it";
                self.wrong(&id.span(), message);
                None
            }
        }
    }

    /// What is said of a capability of which several things are granted.
    fn several<F, T>(
        &mut self,
        said: &Spanned<Said<Vec<F>>>,
        key: &str,
        read: impl Fn(&mut Self, &F) -> Option<Placed<T>>,
        differ: impl Fn(&mut Self, &[Placed<T>]),
        grants: impl Fn(Vec<T>) -> Grants,
    ) -> Stated<Grants> {
        let forms: &[F] = if let Said::Granted(forms) = said.get_ref() { forms } else { &[] };
        // Each is compared with each.
        if forms.len() > GRANTS_LIMIT {
            self.wrong(&said.span(), format!("`{key}` grants {} at once, the limit is {GRANTS_LIMIT}", forms.len()));
        }
        let read: Vec<Placed<T>> = forms.iter().take(GRANTS_LIMIT).filter_map(|form| read(self, form)).collect();
        differ(self, &read);
        // The lines of several tables are those of what is in them.
        let span = read.first().map_or_else(|| said.span(), |first| first.span.clone());
        let value = grants(read.into_iter().map(|placed| placed.value).collect()).in_order();
        Stated { value, origin: self.origin(&span) }
    }

    fn net(&mut self, form: &NetForm) -> Option<Placed<NetGrant>> {
        let host = self.sound(&form.host, HostPattern::parse)?;
        let path = match &form.path {
            Some(path) => self.sound(path, PathPrefix::parse)?,
            None => PathPrefix::default(),
        };
        self.few(form.addresses.as_deref().unwrap_or_default(), form.host.get_ref(), "ranges of addresses")?;
        let mut addresses = std::collections::BTreeSet::new();
        for text in form.addresses.iter().flatten() {
            addresses.insert(self.sound(text, parse_addresses)?);
        }
        let plain = NetGrant::to(host, form.scheme);
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
        self.checked(grant.checked(), &at).map(|value| Placed { value, span })
    }

    fn nets_differ(&mut self, grants: &[Placed<NetGrant>]) {
        let place = |grant: &NetGrant| {
            let NetGrant { host, scheme, ports, methods, path, .. } = grant.clone();
            (host, scheme, ports, methods, path)
        };
        self.differ(grants, place, "grants the same requests with other addresses or caps, keep one of them");
    }

    fn kv(&mut self, said: &Spanned<Said<KvForm>>) -> Stated<Grants> {
        let Said::Granted(form) = said.get_ref() else {
            return Stated { value: Grants::default(), origin: self.origin(&said.span()) };
        };
        let kv = self.sound(&form.space, SpaceName::parse).map(|space| {
            let plain = KvGrant::to(space);
            KvGrant {
                access: form.access.unwrap_or(plain.access),
                bytes: form.bytes.unwrap_or(plain.bytes),
                keys: form.keys.unwrap_or(plain.keys),
                value_bytes: form.value_bytes.unwrap_or(plain.value_bytes),
                ..plain
            }
        });
        Stated { value: Grants { kv, ..Grants::default() }, origin: self.origin(&form.space.span()) }
    }

    fn folder(&mut self, form: &FilesForm) -> Option<Placed<FilesGrant>> {
        let name = self.sound(&form.name, FolderName::parse)?;
        let span = form.path.span();
        let text = form.path.get_ref();
        if text.starts_with('~') {
            self.wrong(
                &span,
                format!("`{}` is taken as it is, nobody expands a `~`: write the whole path", shown(text)),
            );
            return None;
        }
        let home = self.path.parent().unwrap_or(Path::new("")).to_owned();
        let path = if text.is_empty() { PathBuf::new() } else { settled(&home.join(text)) };
        let path = if path.as_os_str().is_empty() && !text.is_empty() { PathBuf::from(".") } else { path };
        let plain = FilesGrant::to(name, path);
        let grant = FilesGrant {
            access: form.access.unwrap_or(plain.access),
            bytes: form.bytes.unwrap_or(plain.bytes),
            read_bytes: form.read_bytes.unwrap_or(plain.read_bytes),
            ..plain
        };
        if grant.access == Access::Write && settled(&self.path).starts_with(&grant.path) {
            let message = "this policy is in that folder, and a tool could change it: grant a folder below, or `read`";
            self.wrong(&span, message);
            return None;
        }
        let grant = self.checked(grant.checked(), &span)?;
        self.folders.push((grant.path.clone(), grant.access, span.start));
        Some(Placed { value: grant, span: form.name.span() })
    }

    fn folders_differ(&mut self, grants: &[Placed<FilesGrant>]) {
        let name = |grant: &FilesGrant| grant.name.clone();
        self.differ(grants, name, "grants another folder of this name, give each its own");
    }

    fn secret(&mut self, form: &SecretForm) -> Option<Placed<SecretGrant>> {
        let name = self.sound(&form.name, SecretName::parse)?;
        self.few(&form.hosts, form.name.get_ref(), "hosts")?;
        let mut hosts = Vec::new();
        for host in &form.hosts {
            hosts.push(self.sound(host, HostPattern::parse)?);
        }
        let plain = SecretGrant::to(name, hosts);
        let into = form.into.as_ref().map_or(plain.into, |into| into.iter().copied().collect());
        let span = form.name.span();
        self.checked(SecretGrant { into, ..plain }.checked(), &span).map(|value| Placed { value, span })
    }

    fn secrets_differ(&mut self, grants: &[Placed<SecretGrant>]) {
        let name = |grant: &SecretGrant| grant.name.clone();
        self.differ(grants, name, "grants this secret otherwise, say in one table where it may go");
    }

    fn tools(&mut self, said: &Spanned<Said<CalleesForm>>) -> Stated<Grants> {
        let tools = match said.get_ref() {
            Said::Nothing => Callees::default(),
            Said::Granted(CalleesForm::Any) => Callees::Any,
            Said::Granted(CalleesForm::Named(names)) => {
                let mut sound = Vec::new();
                for name in names {
                    sound.extend(self.sound(name, Callees::parse));
                }
                Callees::these(sound)
            }
        };
        Stated { value: Grants { tools, ..Grants::default() }, origin: self.origin(&said.span()) }
    }

    /// Notes a list of a grant that is too long: each of its parts is compared with each.
    fn few(&mut self, list: &[Spanned<String>], of: &str, what: &str) -> Option<()> {
        let Some(first_beyond) = list.get(HOSTS_LIMIT) else { return Some(()) };
        let message = format!("the grant of `{}` has {} {what}, the limit is {HOSTS_LIMIT}", shown(of), list.len());
        self.wrong(&first_beyond.span(), message);
        None
    }

    /// Notes each grant that is about the same as an earlier one and says something else of it.
    fn differ<T: PartialEq, K: PartialEq>(&mut self, grants: &[Placed<T>], about: impl Fn(&T) -> K, what: &str) {
        for (at, grant) in grants.iter().enumerate() {
            let same = |earlier: &&Placed<T>| about(&earlier.value) == about(&grant.value);
            if let Some(earlier) = grants[..at].iter().find(same)
                && earlier.value != grant.value
            {
                let line = self.line(earlier.span.start);
                self.wrong(&grant.span, format!("line {line} {what}"));
            }
        }
    }

    /// Two names that people take for one are one tool, of which one thing is said.
    pub(super) fn rules_differ(&mut self, rules: &[(Range<usize>, Rule)]) {
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
            if rule.only.as_ref().map(|only| only.value) != other.only.as_ref().map(|only| only.value) {
                let line = self.line(earlier.start);
                self.wrong(span, format!("line {line} is of another `id`: `{}` is the same tool, keep one", other.key));
            }
            let both = rule
                .says
                .iter()
                .find(|(capability, said)| other.says.get(capability).is_some_and(|other| other.value != said.value));
            if let Some((capability, _)) = both {
                let (line, name, key) = (self.line(earlier.start), capability.name(), &other.key);
                let message =
                    format!("line {line} says something else of `{name}`: `{key}` is the same tool, keep one");
                self.wrong(span, message);
            }
        }
    }

    /// What some text stands for.
    fn sound<T>(&mut self, text: &Spanned<String>, read: impl Fn(&str) -> Result<T, GrantError>) -> Option<T> {
        let read = read(text.get_ref());
        self.checked(read, &text.span())
    }

    fn checked<T>(&mut self, grant: Result<T, GrantError>, span: &Range<usize>) -> Option<T> {
        grant.map_err(|error| self.wrong(span, error.to_string())).ok()
    }
}

/// A path without steps that lead nowhere. Links are not followed: whoever opens it does that.
fn settled(path: &Path) -> PathBuf {
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
