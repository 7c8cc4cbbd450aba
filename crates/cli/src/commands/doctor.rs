//! `doctor`: reports what this machine supports, and proves with one call that Toolcell works on
//! it.
//!
//! [`machine`] probes the system, [`jail`] makes a call in it, [`missing`] explains the cost of each
//! missing feature, [`store`] checks the store, and [`seccomp`] prints a profile for locking the
//! process down.
//!
//! Invariant: the report is printed whatever is missing. The exit status says whether tools can
//! run.

mod jail;
mod machine;
mod missing;
mod seccomp;
mod store;

use serde::Serialize;
use toolcell::{
    Budget, CallContext, Draft, ENGINE_VERSION, GUEST_DIGEST, ImageKind, Interruption, Outcome, Params, Precheck,
    Report, SandboxConfig, Toolbox, TypeChecker, TypeCheckerProgram, escape_control_chars,
};
use toolcell_i18n::{Lang, Message, message, tr};

use crate::args::DoctorArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::policy_files::PolicyFiles;
use crate::render::label::{label, pad};
use crate::render::progress::with_progress;
use crate::response::ErrorResponse;
use crate::streams::Streams;
use jail::JailFindings;
use machine::Machine;
use missing::{MissingFeature, find_missing};
use store::StoreFindings;

/// Width of the label of a line, in columns.
const LABEL_COLUMNS: usize = 14;
/// Width of the label of an image that does not work here, in columns.
const REJECTED_COLUMNS: usize = 15;

/// The whole report.
#[derive(Debug, Serialize)]
struct Findings {
    works: bool,
    version: &'static str,
    engine: String,
    guest: &'static str,
    #[serde(flatten)]
    sandbox: SandboxFindings,
    #[serde(flatten)]
    machine: Machine,
    jail: JailFindings,
    store: StoreFindings,
    #[serde(flatten)]
    types: TypesFindings,
    missing: Vec<MissingFeature>,
}

/// What checks types.
#[derive(Debug, Default, Serialize)]
struct TypesFindings {
    /// The program, if it works.
    types: Option<String>,
    /// Its version of TypeScript, if it is the compiler that the policy names.
    #[serde(skip_serializing_if = "Option::is_none")]
    typescript: Option<String>,
    /// The program that does not work, and why.
    #[serde(skip)]
    broken: Option<(String, Message)>,
}

impl TypesFindings {
    fn probe(program: Option<TypeCheckerProgram>) -> Self {
        let Some(program) = program else { return Self::default() };
        let name = program.to_string();
        match TypeChecker::new(program).probe() {
            Ok(typescript) => Self { types: Some(name), typescript, broken: None },
            Err(why) => Self { broken: Some((name, why)), ..Self::default() },
        }
    }

    fn description(&self, lang: Lang) -> String {
        let text = match self {
            Self { types: Some(program), typescript: Some(version), .. } => format!("{program} (TypeScript {version})"),
            Self { types: Some(program), .. } => program.clone(),
            Self { broken: Some((program, why)), .. } => {
                tr!(lang, "not checked: {program} does not work: {why}", program, why)
            }
            _ => tr!(
                lang,
                "not checked: put `toolcell-types` beside this program, name it in TOOLCELL_TYPES, or name TypeScript 7 in \
                 `types.command` of the policy"
            )
            .to_owned(),
        };
        escape_control_chars(&text)
    }
}

/// The result of starting a sandbox and making a call in it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct SandboxFindings {
    image: Option<&'static str>,
    passed_over: Vec<RejectedImage>,
    /// How deadlines interrupt calls: `epochs` or `fuel-slices`.
    interruption: Option<&'static str>,
    fuel: Option<u64>,
    load_fuel: Option<u64>,
    first_call_ms: Option<f64>,
    /// Why the call did not start, or why it was stopped.
    error: Option<ErrorResponse>,
    #[serde(skip)]
    kind: Option<ImageKind>,
    #[serde(skip)]
    deadlines: Option<Deadlines>,
    #[serde(skip)]
    first_call: FirstCall,
}

/// How deadlines interrupt calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deadlines {
    /// By epoch interruption.
    Epochs,
    /// By fuel slices, because a worker of the jail has only one thread.
    SlicesInJail,
    /// By fuel slices, because this process cannot start a thread.
    SlicesWithoutThread,
}

impl Deadlines {
    fn from_toolbox(toolbox: &Toolbox) -> Self {
        match (toolbox.interruption(), toolbox.confinement()) {
            (Interruption::Epochs, _) => Self::Epochs,
            (Interruption::FuelSlices, Some(_)) => Self::SlicesInJail,
            (Interruption::FuelSlices, None) => Self::SlicesWithoutThread,
        }
    }

    fn description(self) -> Message {
        match self {
            Self::Epochs => message!("epoch interruption: a thread ticks every millisecond while calls run"),
            Self::SlicesInJail => message!("slices of fuel: a jail worker has a single thread"),
            Self::SlicesWithoutThread => message!("slices of fuel: no thread can be started"),
        }
    }
}

/// The result of the first call.
#[derive(Debug, Default)]
enum FirstCall {
    /// It returned the correct value.
    #[default]
    Passed,
    /// It returned a wrong value.
    WrongResult,
    /// It was stopped, with this exit status and for this reason.
    Stopped(Exit, Message),
    /// It did not start.
    NotStarted(CliError),
}

#[derive(Debug, Serialize)]
struct RejectedImage {
    image: &'static str,
    reason: Message,
}

impl SandboxFindings {
    fn probe(config: &SandboxConfig) -> Self {
        let toolbox = match Toolbox::new(config) {
            Ok(toolbox) => toolbox,
            Err(error) => return Self::default().with_failure(error.into()),
        };
        let passed_over = toolbox.rejected_images().iter();
        let passed_over = passed_over
            .map(|(kind, reason)| RejectedImage { image: kind.name(), reason: Message::verbatim(reason.clone()) });
        let (image, kind) = (Some(toolbox.image().name()), Some(toolbox.image()));
        let (interruption, deadlines) = (Some(toolbox.interruption().name()), Some(Deadlines::from_toolbox(&toolbox)));
        let passed_over = passed_over.collect();
        let found = Self { image, passed_over, interruption, kind, deadlines, ..Self::default() };
        match first_call(&toolbox) {
            Err(failure) => found.with_failure(failure),
            Ok(Report { outcome: Outcome::Stopped(stop), .. }) => {
                let message = message!("the test call was stopped: {stop}", stop);
                let hint = message!("raise the limit that it hit: memory or time");
                Self {
                    error: Some(ErrorResponse::new(stop.code(), &message, Some(hint))),
                    first_call: FirstCall::Stopped(Exit::from_outcome(&Outcome::Stopped(stop)), message),
                    ..found
                }
            }
            Ok(report) => Self {
                fuel: Some(report.usage.fuel),
                load_fuel: Some(report.usage.load_fuel),
                first_call_ms: Some((report.usage.duration.as_secs_f64() * 1e6).round() / 1e3),
                first_call: if is_correct(&report) { FirstCall::Passed } else { FirstCall::WrongResult },
                ..found
            },
        }
    }

    fn with_failure(self, failure: CliError) -> Self {
        Self { error: Some(failure.to_response()), first_call: FirstCall::NotStarted(failure), ..self }
    }
}

fn first_call(toolbox: &Toolbox) -> Result<Report, CliError> {
    let draft = Draft::from_bytes("doctor.js", b"const execute = ({ numbers }) => numbers.reduce((a, b) => a + b)")?;
    let params = Params::parse(r#"{"numbers": [1, 2, 3]}"#)?;
    Ok(toolbox.exec(&draft, &params, &Budget::default(), &CallContext::default(), Precheck::Off)?)
}

fn is_correct(report: &Report) -> bool {
    matches!(&report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "6")
}

pub(crate) fn run(args: &DoctorArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    if args.seccomp {
        return seccomp::print(&args.allow, &mut context.streams);
    }
    let config = args.sandbox.config()?;
    let sandbox = SandboxFindings::probe(&config);
    let machine = Machine::probe();
    let store = with_progress(tr!(context.lang, "checking"), &context.streams, || {
        StoreFindings::probe(context.optional_store_dir())
    });
    let found_out = sandbox.kind.filter(|kind| *kind == ImageKind::Roomy || !sandbox.passed_over.is_empty());
    let missing = find_missing(found_out, sandbox.deadlines, &machine, &store);
    let policy = context.policy.as_ref().ok().map(PolicyFiles::policy);
    let types = TypesFindings::probe(crate::toolbox::type_checker(policy));
    let findings = Findings {
        works: matches!(sandbox.first_call, FirstCall::Passed),
        version: env!("CARGO_PKG_VERSION"),
        engine: format!("wasmtime {ENGINE_VERSION}"),
        guest: GUEST_DIGEST,
        sandbox,
        machine,
        jail: JailFindings::probe(config),
        store,
        types,
        missing,
    };
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let text = serde_json::to_string(&findings).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        print_text(&findings, lang, streams)?;
    }
    Ok(match &findings.sandbox.first_call {
        FirstCall::Passed if findings.store.is_busy() && findings.store.is_healthy() => Exit::Limit,
        FirstCall::Passed if findings.store.is_healthy() => Exit::Done,
        FirstCall::Passed => Exit::Integrity,
        FirstCall::WrongResult => Exit::Bug,
        FirstCall::Stopped(exit, _) => *exit,
        FirstCall::NotStarted(failure) if format.is_json() => failure.exit(),
        FirstCall::NotStarted(failure) => failure.print(format, lang, streams),
    })
}

/// Formats a line of the report: a label, and what was found out.
fn line(label: &str, finding: &str) -> String {
    format!("{} {finding}", pad(label, LABEL_COLUMNS))
}

fn print_text(findings: &Findings, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    for line in sandbox_lines(findings, lang).into_iter().chain(machine_lines(&findings.machine, lang)) {
        writeln!(streams.output, "{line}")?;
    }
    if let (Some(ms), Some(fuel)) = (findings.sandbox.first_call_ms, findings.sandbox.fuel) {
        let cost = tr!(lang, "{ms} ms, {fuel} fuel", ms, fuel);
        writeln!(streams.output, "{}", line(tr!(lang, "first call"), &cost))?;
    }
    let jail = escape_control_chars(&findings.jail.description().to_text(lang));
    writeln!(streams.output, "{}", line(tr!(lang, "jail"), &jail))?;
    let types = findings.types.description(lang);
    writeln!(streams.output, "{}", line(tr!(lang, "doctor" => "types"), &types))?;
    findings.store.print(lang, streams)?;
    for missing in &findings.missing {
        let cost = label(missing.what, &missing.cost.to_text(lang), lang);
        writeln!(streams.output, "{}", line(tr!(lang, "doctor" => "missing"), &cost))?;
    }
    let verdict = match &findings.sandbox.first_call {
        FirstCall::Passed => tr!(lang, "doctor" => "works").to_owned(),
        FirstCall::WrongResult => {
            let reason = message!("the test call returned a wrong result");
            tr!(lang, "does not work: {reason}", reason)
        }
        FirstCall::Stopped(_, reason) => tr!(lang, "does not work: {reason}", reason),
        FirstCall::NotStarted(_) => tr!(lang, "does not work").to_owned(),
    };
    writeln!(streams.output, "{}", escape_control_chars(&verdict))
}

fn sandbox_lines(findings: &Findings, lang: Lang) -> Vec<String> {
    let mut lines = vec![
        line("toolcell", findings.version),
        line(tr!(lang, "engine"), &findings.engine),
        line(tr!(lang, "guest"), &findings.guest[..16]),
    ];
    if let Some(kind) = findings.sandbox.kind {
        let description = match kind {
            ImageKind::Roomy => message!("native code, no bounds checks, 4 GiB of address space per call"),
            ImageKind::Embedded | ImageKind::Bounded => {
                message!("native code with bounds checks, as much address space as memory")
            }
            ImageKind::Interpreted => message!("interpreter, no executable pages, about 30 times slower"),
        };
        let image = tr!(lang, "{name} ({description})", name = kind.name(), description);
        lines.push(line(tr!(lang, "doctor" => "image"), &image));
    }
    for rejected in &findings.sandbox.passed_over {
        let reason = escape_control_chars(&rejected.reason.to_text(lang));
        let image = format!("  {}", tr!(lang, "not {image}", image = rejected.image));
        lines.push(format!("{} {reason}", pad(&image, REJECTED_COLUMNS)));
    }
    if let Some(deadlines) = findings.sandbox.deadlines {
        lines.push(line(tr!(lang, "deadlines"), &deadlines.description().to_text(lang)));
    }
    lines
}

fn machine_lines(machine: &Machine, lang: Lang) -> Vec<String> {
    let unlimited = || tr!(lang, "unlimited").to_owned();
    let mib = |bytes: Option<u64>| bytes.map_or_else(unlimited, |bytes| format!("{} MiB", bytes >> 20));
    let is_there = |is: bool| if is { tr!(lang, "presence" => "yes") } else { tr!(lang, "presence" => "no") };
    let privileges = match machine.no_new_privileges {
        None => message!("unknown"),
        Some(true) => message!("none new"),
        Some(false) => message!("may be gained"),
    };
    let files = machine.open_files.map_or_else(unlimited, |files| files.to_string());
    let user = tr!(lang, "{user}, home: {home}", user = machine.user, home = is_there(machine.home));
    let proc = format!("{}, pagemap_scan{}{}", is_there(machine.proc), lang.colon(), is_there(machine.pagemap_scan));
    let seccomp = Message::from(machine.seccomp);
    vec![
        line(tr!(lang, "kernel"), &escape_control_chars(&machine.kernel)),
        line(tr!(lang, "doctor" => "user"), &user),
        line(tr!(lang, "address space"), &mib(machine.address_space_bytes)),
        line(tr!(lang, "memory"), &mib(machine.memory_bytes)),
        line(tr!(lang, "open files"), &files),
        line(tr!(lang, "cores"), &machine.cores.to_string()),
        line("/proc", &proc),
        line(tr!(lang, "network"), is_there(machine.network)),
        line("seccomp", &tr!(lang, "{seccomp}, privileges: {privileges}", seccomp, privileges)),
    ]
}
