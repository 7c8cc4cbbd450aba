//! `run --explain`: prints the steps of an admission decision.

use serde_json::json;
use toolcell::Explanation;
use toolcell_i18n::tr;

use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::table::{Column, Fit, Overflow, Table, terminal_width};

/// Prints the steps of an admission decision, and its result.
pub(super) fn print_explanation(explanation: Explanation, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let Explanation { steps, admitted, .. } = explanation;
    let asks = admitted.is_ok() && steps.iter().any(|step| step.verdict == "ask");
    if format.is_json() {
        let refused = admitted.map_err(CliError::from).err();
        let exit = refused.as_ref().map_or(Exit::Done, CliError::exit);
        let error = refused.map(|failure| failure.to_response());
        let text = json!({"steps": steps, "admitted": error.is_none(), "asks": asks, "error": error});
        writeln!(streams.output, "{text}")?;
        return Ok(exit);
    }
    let titles = [
        tr!(lang, "column" => "stage"),
        tr!(lang, "column" => "verdict"),
        tr!(lang, "column" => "rule"),
        tr!(lang, "column" => "reason"),
    ];
    let fits = [Fit::Whole, Fit::Whole, Fit::Text(16), Fit::Text(24)];
    let columns = titles.into_iter().zip(fits).map(|(title, fit)| Column { title, fit, drop_order: 0 });
    let mut table = Table::new(columns.collect());
    for step in steps {
        let [verdict, rule, reason] = [step.verdict, step.rule, step.reason].map(|text| text.to_text(lang));
        table.add_row([step.stage.to_owned(), verdict, rule, reason]);
    }
    if streams.output_is_terminal {
        for line in table.fit(terminal_width(), Overflow::Wrap).lines {
            writeln!(streams.output, "{}", line.trim_end())?;
        }
    } else {
        write!(streams.output, "{}", table.to_tsv())?;
    }
    admitted?;
    let end = if asks { tr!(lang, "the call would need approval first") } else { tr!(lang, "the call would run") };
    writeln!(streams.output, "{end}")?;
    Ok(Exit::Done)
}
