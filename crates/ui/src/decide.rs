//! The decisions that a person makes on a page.
//!
//! Invariant: a decision is about exactly what the page showed, which its form names by a digest, and leaves one audit line that names
//! the person.

use std::sync::{Arc, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use toolcell::policy::Grants;
use toolcell::{ReviewAction, ReviewDecision, ReviewError, Toolbox};
use toolcell_error::ErrorCode;
use toolcell_i18n::message;

use crate::app::{App, Visit, describe_person};
use crate::form::{Form, FormNames, FormRefusal};
use crate::pages;
use crate::source::{PageError, ToolboxSource};

/// The fields of a decision.
const FIELDS: FormNames =
    FormNames { required: &["shown", "action"], optional: &["reason"], repeated: "grant", prefix: None };

/// Decides about a tool, and returns to the inbox.
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Path(tool): Path<String>,
    visit: Visit,
    body: Bytes,
) -> Response {
    let form = match Form::parse(&visit, &body, &FIELDS) {
        Ok(form) => form,
        Err(refusal) => return pages::refused_form(&visit, refusal),
    };
    let action = match form.one("action") {
        "approve" => Some(ReviewAction::Approve),
        "once" => Some(ReviewAction::ApproveOnce),
        "refuse" => Some(ReviewAction::Refuse),
        "revoke" => Some(ReviewAction::Revoke),
        "grant" => None,
        _ => return pages::refused_form(&visit, FormRefusal::Incomplete),
    };
    let by = describe_person(&visit.session.person, form.one("reason"));
    let (id, source, decisions) = (tool.clone(), Arc::clone(&app.source), Arc::clone(&app.decisions));
    let decided = app.with_toolbox(move |toolbox| {
        let _one_at_a_time = decisions.lock().unwrap_or_else(PoisonError::into_inner);
        match action {
            Some(action) => {
                Ok(toolbox.decide_review(&ReviewDecision { tool: &id, shown: form.one("shown"), action, by: &by })?)
            }
            None => grant(toolbox, source.as_ref(), &id, &form, &by).inspect_err(|error| {
                // An approval writes its audit line itself. This line is of the attempt; if it cannot be written, the person still reads
                // the error.
                drop(toolbox.record_rejected(
                    Some("approve"),
                    Some(&id),
                    error.code,
                    format!("{by}: {}", error.message),
                ));
            }),
        }
    });
    match decided.await {
        Ok(()) => {
            app.feed.check_now();
            Redirect::to(&visit.base).into_response()
        }
        Err(error) if error.code == ErrorCode::ApprovalChanged => pages::tool::changed(&app, &visit, tool).await,
        Err(error) => pages::failed(&visit, &error),
    }
}

/// Adds grants that the page offered, and approves the tool with them.
fn grant(toolbox: &Toolbox, source: &dyn ToolboxSource, tool: &str, form: &Form, by: &str) -> Result<(), PageError> {
    if toolbox.show(tool, None)?.review_digest() != form.one("shown") {
        return Err(ReviewError::Changed.into());
    }
    let prompt = toolbox.approval_prompt(tool)?;
    let offered = prompt.tool_approval.as_ref().map(|approval| &*approval.missing).unwrap_or_default();
    let mut added = Grants::default();
    for chosen in &form.many {
        let grants = offered.iter().find(|offer| offer.text == *chosen).and_then(|offer| offer.grants.clone());
        added.extend(grants.ok_or(ReviewError::Changed)?);
    }
    if added.is_empty() {
        return Err(PageError {
            code: ErrorCode::GrantInvalid,
            message: message!("no grant is chosen: nothing was decided"),
            hint: message!("go back to the tool, and choose what it is granted"),
        });
    }
    source.grant(&prompt, &added, by)
}
