//! `ui`: serves the web page.
//!
//! Invariant: each request is answered under the policy files as they are then, and a grant is added by the same change of the user's
//! policy file as by `grant`.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::getuid;
use toolcell::policy::Grants;
use toolcell::{ApprovalPrompt, ToolName, Toolbox};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_ui::{CurrentToolbox, LinkConfig, PageError, ToolboxSource};

use crate::args::{PolicyArgs, SandboxArgs, UiArgs};
use crate::browser;
use crate::commands::CLI_CALLER;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::interrupt::set_handles_interrupts;
use crate::policy_edit::GrantEdit;
use crate::policy_files::PolicyFiles;
use crate::toolbox;

/// The maximum length of a person's name, in characters.
const MAX_NAME_CHARS: usize = 32;

pub(crate) fn run(args: &UiArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    set_handles_interrupts();
    let source = PolicySource::open(context)?;
    let config =
        LinkConfig { source: Arc::new(source), person: person(), caller: CLI_CALLER.to_owned(), lang: context.lang };
    let (lang, streams) = (context.lang, &mut context.streams);
    let ready = |link: &str| {
        // The link is the result of the command: a script may read it. If the write fails, the page is there all the same.
        drop(writeln!(streams.output, "{link}").and_then(|()| streams.output.flush()));
        let has_no_browser = args.open && !browser::open(link);
        let note = if has_no_browser {
            message!("no program here opens a browser: open the link yourself; it works once, and Ctrl-C ends the page")
        } else {
            message!("the link works once; Ctrl-C ends the page")
        };
        drop(streams.print_note(&note, lang));
    };
    toolcell_ui::serve(config, args.port, ready)
        .map_err(|error| CliError::coded(error.code(), error.localize(), error.hint()))?;
    Ok(Exit::Done)
}

/// Returns the name of the person who started the command, as decisions name it.
pub(super) fn person() -> String {
    let named = |name| std::env::var(name).ok().filter(|name| !name.is_empty());
    let name = ["USER", "LOGNAME"].into_iter().find_map(named);
    let name = name.unwrap_or_else(|| format!("uid {}", getuid().as_raw()));
    name.chars().filter(|char| !char.is_control()).take(MAX_NAME_CHARS).collect()
}

/// The toolbox under the policy files as they are.
struct PolicySource {
    policy_args: PolicyArgs,
    store_dir: PathBuf,
    /// The device and the inode of the store.
    store: (u64, u64),
    state: Mutex<(String, CurrentToolbox)>,
}

impl PolicySource {
    fn open(context: &Context<'_>) -> Result<Self, CliError> {
        let (policy_args, store_dir) = (context.policy_args.clone(), context.store_dir()?.to_owned());
        let files = context.policy()?;
        let toolbox = toolbox::open_existing(&store_dir, SandboxArgs::single_call_config(), files)?;
        let current = CurrentToolbox { toolbox: Arc::new(toolbox), policy_version: 0 };
        let store = identity(&store_dir)?;
        Ok(Self { policy_args, store_dir, store, state: Mutex::new((files.stamp()?, current)) })
    }

    fn reread(&self) -> Result<CurrentToolbox, CliError> {
        if identity(&self.store_dir).ok() != Some(self.store) {
            let message = message!("the store was moved or replaced: what is open is not what is there now");
            return Err(CliError::coded(
                ErrorCode::StoreInvalid,
                message,
                message!("end `toolcell ui`, and start it again"),
            ));
        }
        let files = PolicyFiles::find(&self.policy_args)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, current) = &mut *state;
        let now = files.stamp()?;
        if now != *known {
            let config = toolbox::build_config(SandboxArgs::single_call_config(), &files)?;
            let reopened: Toolbox = current.toolbox.sibling(&self.store_dir, config)?;
            *known = now;
            *current = CurrentToolbox { toolbox: Arc::new(reopened), policy_version: current.policy_version + 1 };
        }
        Ok(current.clone())
    }

    fn add_grants(&self, shown: &ApprovalPrompt, added: &Grants, by: &str) -> Result<(), CliError> {
        let unknown = || {
            let message = message!("`{tool}` is not a stored tool", tool = shown.call.tool_name);
            CliError::usage(message, message!("list the tools with `toolcell list`"))
        };
        let approving = shown.tool_approval.as_ref().ok_or_else(unknown)?;
        let name = ToolName::parse(&shown.call.tool_name).map_err(|_| unknown())?;
        let edit = GrantEdit::prepare(&self.policy_args, &self.store_dir, &name, approving, added)?;
        if edit.is_by_name() {
            let message = message!(
                "the rule `grants.tools.{name}` has no `id`: later tools of this name would get its grants, too",
                name
            );
            let hint = message!("grant it with `toolcell grant {name}`, or add the `id` of the tool to the rule", name);
            return Err(CliError::coded(ErrorCode::GrantInvalid, message, hint));
        }
        edit.save()?;
        edit.approve(by)
    }
}

impl ToolboxSource for PolicySource {
    fn current(&self) -> Result<CurrentToolbox, PageError> {
        self.reread().map_err(|error| page_error(&error))
    }

    fn can_grant(&self) -> bool {
        true
    }

    fn grant_command(&self) -> String {
        "toolcell grant".to_owned()
    }

    fn grant(&self, shown: &ApprovalPrompt, added: &Grants, by: &str) -> Result<(), PageError> {
        self.add_grants(shown, added, by).map_err(|error| page_error(&error))
    }
}

/// Returns the device and the inode of a folder.
fn identity(folder: &Path) -> std::io::Result<(u64, u64)> {
    folder.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

fn page_error(error: &CliError) -> PageError {
    let hint = error.hint().unwrap_or_else(|| Message::verbatim(String::new()));
    PageError { code: error.code(), message: error.message(), hint }
}
