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
    Report, SandboxConfig, Toolbox, escape_control_chars,
};

use crate::args::DoctorArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::progress::with_progress;
use crate::response::ErrorResponse;
use crate::streams::Streams;
use jail::JailFindings;
use machine::Machine;
use missing::{MissingFeature, find_missing};
use store::StoreFindings;

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
    missing: Vec<MissingFeature>,
}

/// The result of starting a sandbox and making a call in it.
#[derive(Debug, Default, Serialize)]
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

    fn description(self) -> &'static str {
        match self {
            Self::Epochs => "epoch interruption: a thread ticks every millisecond while calls run",
            Self::SlicesInJail => "slices of fuel: a jail worker has a single thread",
            Self::SlicesWithoutThread => "slices of fuel: no thread can be started",
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
    /// It was stopped, with this exit status.
    Stopped(Exit),
    /// It did not start.
    NotStarted(CliError),
}

#[derive(Debug, Serialize)]
struct RejectedImage {
    image: &'static str,
    reason: String,
}

impl SandboxFindings {
    fn probe(config: &SandboxConfig) -> Self {
        let toolbox = match Toolbox::new(config) {
            Ok(toolbox) => toolbox,
            Err(error) => return Self::default().with_failure(error.into()),
        };
        let passed_over = toolbox.rejected_images().iter();
        let passed_over =
            passed_over.map(|(kind, reason)| RejectedImage { image: kind.name(), reason: reason.clone() });
        let (image, kind) = (Some(toolbox.image().name()), Some(toolbox.image()));
        let (interruption, deadlines) = (Some(toolbox.interruption().name()), Some(Deadlines::from_toolbox(&toolbox)));
        let passed_over = passed_over.collect();
        let found = Self { image, passed_over, interruption, kind, deadlines, ..Self::default() };
        match first_call(&toolbox) {
            Err(failure) => found.with_failure(failure),
            Ok(Report { outcome: Outcome::Stopped(stop), .. }) => {
                let (code, message) = (stop.code(), format!("the test call was stopped: {stop}"));
                let error = ErrorResponse::new(code, message, Some("raise the limit that it hit: memory or time"));
                Self {
                    error: Some(error),
                    first_call: FirstCall::Stopped(Exit::from_outcome(&Outcome::Stopped(stop))),
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
    let store = with_progress("checking", &context.streams, || StoreFindings::probe(context.optional_store_dir()));
    let found_out = sandbox.kind.filter(|kind| *kind == ImageKind::Roomy || !sandbox.passed_over.is_empty());
    let missing = find_missing(found_out, sandbox.deadlines, &machine, &store);
    let findings = Findings {
        works: matches!(sandbox.first_call, FirstCall::Passed),
        version: env!("CARGO_PKG_VERSION"),
        engine: format!("wasmtime {ENGINE_VERSION}"),
        guest: GUEST_DIGEST,
        sandbox,
        machine,
        jail: JailFindings::probe(config),
        store,
        missing,
    };
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let text = serde_json::to_string(&findings).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        print_text(&findings, streams)?;
    }
    Ok(match &findings.sandbox.first_call {
        FirstCall::Passed if findings.store.is_busy() && findings.store.is_healthy() => Exit::Limit,
        FirstCall::Passed if findings.store.is_healthy() => Exit::Done,
        FirstCall::Passed => Exit::Integrity,
        FirstCall::WrongResult => Exit::Bug,
        FirstCall::Stopped(exit) => *exit,
        FirstCall::NotStarted(failure) if format.is_json() => failure.exit(),
        FirstCall::NotStarted(failure) => failure.print(format, lang, streams),
    })
}

fn print_text(findings: &Findings, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let out = &mut *streams.output;
    writeln!(out, "toolcell       {}", findings.version)?;
    writeln!(out, "engine         {}", findings.engine)?;
    writeln!(out, "guest          {}", &findings.guest[..16])?;
    if let Some(kind) = findings.sandbox.kind {
        let what = match kind {
            ImageKind::Roomy => "native code, no bounds checks, 4 GiB of address space per call",
            ImageKind::Bounded => "native code with bounds checks, as much address space as memory",
            ImageKind::Interpreted => "interpreter, no executable pages, about 30 times slower",
        };
        writeln!(out, "image          {} ({what})", kind.name())?;
    }
    for passed_over in &findings.sandbox.passed_over {
        writeln!(out, "  not {:<9} {}", passed_over.image, escape_control_chars(&passed_over.reason))?;
    }
    if let Some(deadlines) = findings.sandbox.deadlines {
        writeln!(out, "deadlines      {}", deadlines.description())?;
    }
    print_machine(&findings.machine, streams)?;
    let out = &mut *streams.output;
    if let (Some(ms), Some(fuel)) = (findings.sandbox.first_call_ms, findings.sandbox.fuel) {
        writeln!(out, "first call     {ms} ms, {fuel} fuel")?;
    }
    writeln!(out, "jail           {}", findings.jail.description())?;
    findings.store.print(streams)?;
    let out = &mut *streams.output;
    for missing in &findings.missing {
        writeln!(out, "missing        {}: {}", missing.what, missing.cost)?;
    }
    match &findings.sandbox.first_call {
        FirstCall::Passed => writeln!(out, "works"),
        FirstCall::WrongResult => writeln!(out, "does not work: the test call returned a wrong result"),
        FirstCall::Stopped(_) => {
            let message = findings.sandbox.error.as_ref().map_or("", ErrorResponse::message);
            writeln!(out, "does not work: {}", escape_control_chars(message))
        }
        FirstCall::NotStarted(_) => writeln!(out, "does not work"),
    }
}

fn print_machine(machine: &Machine, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mib = |bytes: Option<u64>| bytes.map_or_else(|| "unlimited".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
    let yes = |is: bool| if is { "yes" } else { "no" };
    let files = machine.open_files.map_or_else(|| "unlimited".to_owned(), |files| files.to_string());
    let privileges =
        machine.no_new_privileges.map_or("unknown", |none| if none { "none new" } else { "may be gained" });
    let out = &mut *streams.output;
    writeln!(out, "kernel         {}", escape_control_chars(&machine.kernel))?;
    writeln!(out, "user           {}, home: {}", machine.user, yes(machine.home))?;
    writeln!(out, "address space  {}", mib(machine.address_space_bytes))?;
    writeln!(out, "memory         {}", mib(machine.memory_bytes))?;
    writeln!(out, "open files     {files}")?;
    writeln!(out, "cores          {}", machine.cores)?;
    writeln!(out, "/proc          {}, pagemap_scan: {}", yes(machine.proc), yes(machine.pagemap_scan))?;
    writeln!(out, "network        {}", yes(machine.network))?;
    writeln!(out, "seccomp        {}, privileges: {privileges}", machine.seccomp)
}
