//! `exec`: runs a source once, without storing it.

use toolcell::policy::Grants;
use toolcell::{CallContext, Capability, ExecError, ExecOptions, Policy, Precheck, missing_capability};
use toolcell_i18n::{Localize as _, message};

use super::run::parse_param_words;
use crate::args::ExecArgs;
use crate::commands::CLI_CALLER;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::render::progress::{Progress, finish_progress};
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
    let grants = draft_grants(&args.grant, toolbox.policy())?;
    let progress = context.streams.errors_are_terminal.then(|| Progress::start(draft.name()));
    let options = ExecOptions {
        precheck,
        grants,
        caller: Some(CLI_CALLER.to_owned()),
        approver: context.approver(progress.as_ref()),
    };
    let run = CallContext {
        tool: args.tool.as_deref(),
        seed: args.seed,
        started_at: input::now(),
        cancel: Some(&context.cancel),
        ..CallContext::default()
    };
    let report = toolbox.exec(&draft, &params, &budget, &run, options);
    finish_progress(progress.as_ref());
    let report = report.map_err(|error| CliError::from(error).in_source(&args.file, draft.source()))?;
    let exit = Exit::from_outcome(&report.outcome);
    let missing = missing_capability(&report);
    if context.format.is_json() {
        writeln!(context.streams.output, "{}", CommandResponse::from_report(None, report).to_json())?;
    } else {
        print_text(&report, context.lang, &mut context.streams)?;
        if let Some(capability) = missing {
            let hint = message!("grant it with {option}", option = grant_option(capability));
            context.streams.print_hint(&hint, context.lang)?;
        }
    }
    context.streams.output.flush()?;
    Ok(exit)
}

/// Returns what the policy grants to drafts, and what the user grants with `--grant`.
fn draft_grants(words: &[String], policy: &Policy) -> Result<Grants, CliError> {
    let mut grants = policy.draft_grants();
    grants.extend(parse_grant_words(words)?);
    grants.canonicalize().validate().map_err(|error| grant_error(&error))
}

/// What stands for a resource in a suggested grant.
const PLACEHOLDERS: [&str; 4] = ["HOST", "SPACE", "NAME", "PATH"];

/// Parses grants as the user typed them. Paths are relative to the current folder.
pub(super) fn parse_grant_words(words: &[String]) -> Result<Grants, CliError> {
    let mut grants = Grants::default();
    let folder = std::env::current_dir()?;
    for word in words {
        let resource = word.split_once('=').map_or("", |(_, resource)| resource);
        if let Some(placeholder) =
            PLACEHOLDERS.iter().find(|it| resource.split([':', '@', ',']).any(|part| part == **it))
        {
            return Err(CliError::usage(
                message!("`{word}` is a placeholder", word),
                message!("replace `{placeholder}` with what is to be granted", placeholder),
            ));
        }
        grants.extend(Grants::parse_argument(word, &folder).map_err(|error| grant_error(&error))?);
    }
    grants.canonicalize().validate().map_err(|error| grant_error(&error))
}

fn grant_error(error: &toolcell::GrantError) -> CliError {
    let hint = message!("write a capability with its resource, such as `net=api.example.com` or `timers`");
    CliError::usage(error.localize(), hint)
}

/// Returns the option that grants a capability, with a placeholder for its resource.
fn grant_option(capability: Capability) -> String {
    let resource = match capability {
        Capability::Timers | Capability::Clock | Capability::Random => "",
        Capability::Net => "=HOST",
        Capability::Kv => "=SPACE",
        Capability::Files => "=NAME:PATH",
        Capability::Secrets => "=NAME@HOST",
        Capability::Tools => "=NAME",
        Capability::Servers => "=NAME.TOOL",
    };
    format!("`--grant {}{resource}`", capability.name())
}
