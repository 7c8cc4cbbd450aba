//! A session: an open toolbox, with the host that opened it.

use std::path::Path;
use std::sync::Arc;

use toolcell::{Approver, Hooks, Lang, SecretName, Toolbox, ToolboxConfig, TypeCheckerProgram};

use crate::failure::Failure;
use crate::host::{Callback, DeclaredFunction, Host, HostApprover, add_hooks};
use crate::options::OpenOptions;

/// An open toolbox.
pub struct Session {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) functions: Vec<DeclaredFunction>,
    pub(crate) has_approver: bool,
    pub(crate) caller: String,
    pub(crate) lang: Lang,
}

impl Session {
    /// Opens a toolbox. `options` is a JSON object: `dir`, `policy`, `cwd`, `lang`, `caller`, `worker`, `slots`,
    /// `hooks`, `functions`, `hasApprover`, `hasSecrets`.
    ///
    /// # Errors
    /// `request-invalid`, the codes of an invalid policy, hook or function, and those of
    /// [`Toolbox::open`].
    pub fn open(options: &str, host: &Arc<dyn Host>) -> Result<Self, Failure> {
        let options = OpenOptions::parse(options)?;
        let lang = options.lang()?;
        let sandbox = options.sandbox();
        let policy = options.policy.as_ref().map(|policy| policy.parse(lang)).transpose()?.unwrap_or_default();
        let mut hooks = Hooks::default();
        // The host named the file: its hooks are the host's own.
        hooks
            .add_policy(&policy, |_| toolcell::hook::HookTrust::Trusted)
            .map_err(|error| Failure::from_error(&error, error.code(), error.hint(), lang))?;
        add_hooks(&mut hooks, options.hooks, host, lang)?;
        let functions = options.functions.into_iter().map(|one| one.check(lang)).collect::<Result<Vec<_>, _>>()?;
        let type_checker = policy.type_compiler().map(TypeCheckerProgram::from);
        let mut config = ToolboxConfig { sandbox, policy, hooks, type_checker, ..ToolboxConfig::default() };
        if let Some(cwd) = options.cwd {
            config.cwd = cwd;
        }
        if options.has_secrets {
            let host = Arc::clone(host);
            config.secrets = Arc::new(move |name: &SecretName| resolve_secret(&*host, name));
        }
        let toolbox = open_toolbox(options.dir.as_deref(), config, lang)?;
        let (has_approver, caller) = (options.has_approver, options.caller);
        Ok(Self { toolbox: Arc::new(toolbox), functions, has_approver, caller, lang })
    }

    /// Returns the approver of a run, if the host has one.
    pub(crate) fn approver(&self, host: &Arc<dyn Host>) -> Option<Arc<dyn Approver>> {
        self.has_approver
            .then(|| Arc::new(HostApprover { host: Arc::clone(host), lang: self.lang }) as Arc<dyn Approver>)
    }

    /// Returns the toolbox, for what the packages do not offer.
    #[must_use]
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }
}

fn open_toolbox(dir: Option<&Path>, config: ToolboxConfig, lang: Lang) -> Result<Toolbox, Failure> {
    let Some(dir) = dir else {
        return Toolbox::without_store(config)
            .map_err(|error| Failure::from_error(&error, error.code(), error.hint(), lang));
    };
    Toolbox::open(dir, config).map_err(|error| Failure::from_error(&error, error.code(), error.hint(), lang))
}

/// A secret that the host does not have, or fails to give, does not exist.
fn resolve_secret(host: &dyn Host, name: &SecretName) -> Option<String> {
    let answer = host.call(Callback::Secret, name.as_str(), "null", None).ok()?;
    serde_json::from_str::<Option<String>>(&answer).ok()?
}
