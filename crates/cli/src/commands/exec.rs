//! `exec`: runs a source once, without storing it.

use toolcell::{CallContext, ExecError, Precheck};

use super::run::parse_param_words;
use crate::args::ExecArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::render::progress::with_progress;
use crate::render::run::print_text;
use crate::response::CommandResponse;

pub(crate) fn run(args: &ExecArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    if args.file == "-" && args.params.iter().any(|word| word == "-") {
        return Err(CliError::StdinUsedTwice);
    }
    let draft = input::read_draft(&args.file, &mut context.streams)?;
    let params = parse_param_words(&args.params, &mut context.streams)?.resolve_for_draft()?;
    let toolbox = context.open_toolbox_for_drafts(args.sandbox.config()?)?;
    let budget = toolbox.policy().budget(&args.limits.overrides()).map_err(ExecError::from)?;
    let precheck = if args.no_analysis { Precheck::Off } else { Precheck::Critical };
    let run = CallContext {
        tool: args.tool.as_deref(),
        seed: args.seed,
        started_at: input::now(),
        cancel: Some(&context.cancel),
        ..CallContext::default()
    };
    let report =
        with_progress(draft.name(), &context.streams, || toolbox.exec(&draft, &params, &budget, &run, precheck))?;
    let exit = Exit::from_outcome(&report.outcome);
    if context.format.is_json() {
        writeln!(context.streams.output, "{}", CommandResponse::from_report(None, report).to_json())?;
    } else {
        print_text(&report, context.lang, &mut context.streams)?;
    }
    context.streams.output.flush()?;
    Ok(exit)
}
