//! `resume`: resumes a suspended run, and decides on its held effects.
//!
//! Invariant: effects that are not approved are not performed. Unless they are refused, the run is
//! suspended again.

use std::sync::Arc;

use toolcell::{EffectApprover, EffectDecision, ResumeRequest, RunOptions};

use super::run::{RunFormat, RunView, print_outcome};
use crate::args::ResumeArgs;
use crate::commands::CLI_CALLER;
use crate::commands::held_effects::{ContentDetail, EffectPlan, PlanOptions};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::progress::{Progress, finish_progress, partial_sink};
use crate::streams::OutputFormat;

pub(crate) fn run(args: &ResumeArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_existing_toolbox(args.sandbox.config()?)?;
    let progress = context.streams.errors_are_terminal.then(|| Progress::start(&args.run));
    let otherwise = if args.refuse { EffectDecision::Refuse } else { EffectDecision::Defer };
    let content = if args.show_content { ContentDetail::Full } else { ContentDetail::SizeOnly };
    let of = PlanOptions { approved: &args.approve, fallback: otherwise, content };
    let plan = EffectPlan::new(&of, &toolbox, context, progress.as_ref())?;
    let options = RunOptions {
        caller: CLI_CALLER.to_owned(),
        effect_approver: Some(Arc::clone(&plan) as Arc<dyn EffectApprover>),
        cancel: Some(context.cancel.clone()),
        partial: progress.as_ref().map(partial_sink),
        approver: context.approver(progress.as_ref()),
        ..RunOptions::default()
    };
    let state = toolbox.resume(&ResumeRequest { run: args.run.clone(), ..ResumeRequest::default() }, &options);
    finish_progress(progress.as_ref());
    let format = match context.format {
        OutputFormat::Json => RunFormat::Json,
        OutputFormat::Text => RunFormat::Plain,
    };
    print_outcome(state, &RunView { toolbox: &toolbox, plan: Some(&plan), format }, context)
}
