//! `delete`, `undelete` and `rollback`: changes which version a name resolves to.

use std::path::Path;

use toolcell::store::{Entry, ToolRef, VersionCommit};
use toolcell::{DeleteResponse, DeleteTool, IdPrefix, Lang, ToolName, deleted_text};

use crate::args::{DeleteArgs, RollBackArgs, SandboxArgs, UndeleteArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::policy_files::PolicyFiles;
use crate::{Streams, prompt, toolbox};

pub(crate) fn run(
    args: &DeleteArgs,
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let toolbox = toolbox::open_existing(dir, SandboxArgs::single_call_config(), rules)?;
    let mut request = build_request(args);
    if !request.confirm && streams.is_interactive() {
        // If there is no such tool, `delete` below reports it.
        if let Ok(entry) = toolbox.find(&args.tool) {
            request.confirm = prompt::confirm(&[], &confirm_question(&entry, lang), lang)?;
        }
    }
    let step = toolbox.delete(&request)?;
    print(&step, &deleted_text(&step, lang), json, streams)?;
    if !json {
        writeln!(
            streams.errors,
            "hint: `toolcell undelete {}` restores it, until `toolcell gc` collects it",
            step.name
        )?;
    }
    Ok(Exit::Done)
}

fn confirm_question(entry: &Entry, lang: Lang) -> String {
    let (name, id) = (&entry.name, entry.id.short());
    match lang {
        Lang::En => format!("Delete `{name}` ({id})?"),
        Lang::Ja => format!("ツール「{name}」({id})を削除しますか?"),
        Lang::Zh => format!("确定要删除工具「{name}」（{id}）吗？"),
    }
}

fn build_request(args: &DeleteArgs) -> DeleteTool {
    let is_id = IdPrefix::parse(&args.tool).is_ok();
    let said = Some(args.tool.clone());
    let (tool_id, tool_name) = if is_id { (said, None) } else { (None, said) };
    DeleteTool { tool_id, tool_name, confirm: args.confirm }
}

pub(crate) fn undelete(
    args: &UndeleteArgs,
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let reference = ToolRef::parse(&args.tool)?;
    let toolbox = toolbox::open_existing(dir, SandboxArgs::single_call_config(), rules)?;
    let step = toolbox.undelete(&reference)?;
    let (name, id) = (&step.name, step.id.short());
    let text = match lang {
        Lang::En => format!("Restored the tool `{name}` ({id})."),
        Lang::Ja => format!("ツール「{name}」({id})を元に戻しました。"),
        Lang::Zh => format!("已恢复工具「{name}」（{id}）。"),
    };
    print(&step, &text, json, streams)
}

pub(crate) fn roll_back(
    args: &RollBackArgs,
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let name = ToolName::parse(&args.name)?;
    let toolbox = toolbox::open_existing(dir, SandboxArgs::single_call_config(), rules)?;
    let step = toolbox.roll_back(&name, args.version)?;
    let (name, id, version) = (&step.name, step.id.short(), args.version);
    let text = match lang {
        Lang::En => format!("Rolled the tool `{name}` back to version {version} ({id})."),
        Lang::Ja => format!("ツール「{name}」をバージョン{version}に戻しました({id})。"),
        Lang::Zh => format!("已将工具「{name}」回退到版本 {version}（{id}）。"),
    };
    print(&step, &text, json, streams)
}

fn print(step: &VersionCommit, text: &str, json: bool, streams: &mut Streams<'_>) -> Result<Exit, CliError> {
    if json {
        let text = serde_json::to_string(&DeleteResponse::from(step)).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        writeln!(streams.output, "{text}")?;
    }
    Ok(Exit::Done)
}
