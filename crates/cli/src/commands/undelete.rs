//! `undelete`: restores a deleted tool under its name.

use toolcell::Lang;
use toolcell::store::ToolRef;

use super::delete::print_commit;
use crate::args::{SandboxArgs, UndeleteArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(args: &UndeleteArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let reference = ToolRef::parse(&args.tool)?;
    let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
    let step = toolbox.undelete(&reference)?;
    let (name, id) = (&step.name, step.id.short());
    let text = match context.lang {
        Lang::En => format!("Restored the tool `{name}` ({id})."),
        Lang::Ja => format!("ツール「{name}」({id})を元に戻しました。"),
        Lang::Zh => format!("已恢复工具「{name}」（{id}）。"),
    };
    print_commit(&step, &text, context)
}
