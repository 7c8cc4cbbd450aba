//! `run`: runs a stored tool.

mod explanation;
mod outcome;
mod params;
mod receipt_file;

use std::sync::Arc;

use toolcell::{EffectApprover, EffectDecision, RunError, RunOptions, RunOutcome, RunTool};

use crate::args::RunArgs;
use crate::commands::CLI_CALLER;
use crate::commands::held_effects::{ContentDetail, EffectPlan, PlanOptions};
use crate::context::Context;
use crate::error::{CliError, CommandError};
use crate::exit::Exit;
use crate::render::progress::{Progress, finish_progress, partial_sink};
use crate::streams::OutputFormat;
use explanation::print_explanation;
use receipt_file::ReceiptFile;

pub(super) use outcome::{RunFormat, RunView, print_outcome, visible_result};
pub(super) use params::parse_param_words;

pub(crate) fn run(args: &RunArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let given = parse_param_words(&args.params, &mut context.streams)?;
    let toolbox = context.open_existing_toolbox(args.sandbox.config()?)?;
    let request = RunTool::new(&args.tool, given.resolve(&args.tool, &toolbox)?);
    // Fail before any effect if the receipt cannot be written.
    let file = args.receipt.as_deref().map(ReceiptFile::create).transpose()?;
    let progress = context.streams.errors_are_terminal.then(|| Progress::start(&args.tool));
    let otherwise = if args.plan.suspend { EffectDecision::Defer } else { EffectDecision::Refuse };
    let content = if args.plan.show_content { ContentDetail::Full } else { ContentDetail::SizeOnly };
    let of = PlanOptions { approved: &args.plan.approve, fallback: otherwise, content };
    let plan = args.plan.is_enabled().then(|| EffectPlan::new(&of, &toolbox, context, progress.as_ref()));
    let plan = plan.transpose()?;
    let options = RunOptions {
        caller: CLI_CALLER.to_owned(),
        effect_approver: plan.clone().map(|plan| plan as Arc<dyn EffectApprover>),
        limits: args.limits.overrides(),
        seed: args.seed,
        receipt: file.is_some(),
        tokens_saved: args.tokens_saved,
        time_saved: args.time_saved,
        cancel: Some(context.cancel.clone()),
        partial: progress.as_ref().map(partial_sink),
        approver: context.approver(progress.as_ref()),
        ..RunOptions::default()
    };
    if args.explain {
        let explanation = toolbox.explain(&request, &options);
        finish_progress(progress.as_ref());
        return print_explanation(explanation, context);
    }
    let mut state = if args.plan.suspend {
        toolbox.run_suspendable(&request, &options)
    } else {
        toolbox.run(&request, &options).map(|ran| RunOutcome::Finished(Box::new(ran)))
    };
    finish_progress(progress.as_ref());
    if let Err(RunError::Denied(_)) = &state
        && context.cancel.is_cancelled()
    {
        return Err(state
            .map_or_else(|error| CliError::Command(CommandError::RunInterrupted(error)), |_| CliError::Interrupted));
    }
    let format = match context.format {
        OutputFormat::Json => RunFormat::Json,
        OutputFormat::Text if args.text => RunFormat::ModelText,
        OutputFormat::Text => RunFormat::Plain,
    };
    if let (Some(file), Ok(RunOutcome::Finished(ran))) = (file, &mut state)
        && let Some(receipt) = ran.receipt.take()
    {
        file.write(&receipt, context.lang, &mut context.streams)?;
    }
    print_outcome(state, &RunView { toolbox: &toolbox, plan: plan.as_deref(), format }, context)
}
