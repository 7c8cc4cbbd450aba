//! `rollback`: makes a name resolve to an earlier version again.

use toolcell::{Lang, ToolName};

use super::delete::print_commit;
use crate::args::{RollBackArgs, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(args: &RollBackArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let name = ToolName::parse(&args.name)?;
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    let step = toolbox.roll_back(&name, args.version)?;
    let (name, id, version) = (&step.name, step.id.short(), args.version);
    let text = match context.lang {
        Lang::En => format!("Rolled the tool `{name}` back to version {version} ({id})."),
        Lang::Ja => format!("ツール「{name}」をバージョン{version}に戻しました({id})。"),
        Lang::Zh => format!("已将工具「{name}」回退到版本 {version}（{id}）。"),
    };
    print_commit(&step, &text, context)
}
