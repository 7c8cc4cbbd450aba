//! `doctor`: says what this machine gives, and proves with one call whether Toolcell works on it.
//!
//! [`machine`] is what was found, [`missing`] what each thing that is not there costs, [`store`] how the store is, and
//! [`seccomp`] the profile that a machine may be locked down with.
//!
//! Invariant: whatever is missing, what was found is said. The exit status says whether tools can run.

mod machine;
mod missing;
mod seccomp;
mod store;

use std::path::Path;

use serde::Serialize;
use toolcell::{
    Budget, Draft, ENGINE_VERSION, GUEST_DIGEST, Interruption, Kind, Lang, Outcome, Params, Precheck, Report, Run,
    Toolbox, visible,
};

use crate::Streams;
use crate::answer::ErrorBody;
use crate::args::{DoctorArgs, SandboxArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::jail::JailFindings;
use crate::progress::during;
use machine::Machine;
use missing::{Missing, missing};
use store::StoreFindings;

pub(crate) use seccomp::Besides;

/// What was found.
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
    missing: Vec<Missing>,
}

/// What came of starting a sandbox, and of the first call in it.
#[derive(Debug, Default, Serialize)]
struct SandboxFindings {
    image: Option<&'static str>,
    passed_over: Vec<PassedOver>,
    /// How calls are ended at their deadline: `epochs` or `fuel-slices`.
    interruption: Option<&'static str>,
    fuel: Option<u64>,
    load_fuel: Option<u64>,
    first_call_ms: Option<f64>,
    /// Why there was no first call, or no end of it.
    error: Option<ErrorBody>,
    #[serde(skip)]
    kind: Option<Kind>,
    #[serde(skip)]
    deadlines: Option<Deadlines>,
    #[serde(skip)]
    end: End,
}

/// How calls are ended at their deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deadlines {
    /// By epoch interruption.
    Epochs,
    /// By slices of fuel, because a worker of the jail has one thread.
    SlicesInJail,
    /// By slices of fuel, because this machine starts no thread.
    SlicesWithoutThread,
}

impl Deadlines {
    fn of(toolbox: &Toolbox) -> Self {
        match (toolbox.interruption(), toolbox.walls()) {
            (Interruption::Epochs, _) => Self::Epochs,
            (Interruption::FuelSlices, Some(_)) => Self::SlicesInJail,
            (Interruption::FuelSlices, None) => Self::SlicesWithoutThread,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Epochs => "by epoch interruption: a thread ticks every millisecond while calls run",
            Self::SlicesInJail => "by slices of fuel: a worker of the jail has one thread",
            Self::SlicesWithoutThread => "by slices of fuel: no thread can be started",
        }
    }
}

/// Whether tools can run.
#[derive(Debug, Default)]
enum End {
    /// The first call gave the right answer.
    #[default]
    Works,
    /// It gave a wrong one.
    Wrong,
    /// It was ended.
    Ended(Exit),
    /// There was none.
    None(Failure),
}

#[derive(Debug, Serialize)]
struct PassedOver {
    image: &'static str,
    reason: String,
}

impl SandboxFindings {
    fn look(args: SandboxArgs) -> Self {
        let toolbox = match Toolbox::new(&args.config()) {
            Ok(toolbox) => toolbox,
            Err(error) => return Self::default().failed(error.into()),
        };
        let passed_over = toolbox.passed_over().iter();
        let passed_over = passed_over.map(|(kind, reason)| PassedOver { image: kind.name(), reason: reason.clone() });
        let (image, kind) = (Some(toolbox.image().name()), Some(toolbox.image()));
        let (interruption, deadlines) = (Some(toolbox.interruption().name()), Some(Deadlines::of(&toolbox)));
        let passed_over = passed_over.collect();
        let found = Self { image, passed_over, interruption, kind, deadlines, ..Self::default() };
        match first_call(&toolbox) {
            Err(failure) => found.failed(failure),
            Ok(Report { outcome: Outcome::Stopped(stop), .. }) => {
                let (code, message) = (stop.code(), format!("the first call was ended: {stop}"));
                let error = ErrorBody::refusal(code, message, Some("give it more of what it lacks: memory, or time"));
                Self { error: Some(error), end: End::Ended(Exit::of(&Outcome::Stopped(stop))), ..found }
            }
            Ok(report) => Self {
                fuel: Some(report.usage.fuel),
                load_fuel: Some(report.usage.load_fuel),
                first_call_ms: Some((report.usage.duration.as_secs_f64() * 1e6).round() / 1e3),
                end: if is_right(&report) { End::Works } else { End::Wrong },
                ..found
            },
        }
    }

    fn failed(self, failure: Failure) -> Self {
        Self { error: Some(failure.body()), end: End::None(failure), ..self }
    }
}

fn first_call(toolbox: &Toolbox) -> Result<Report, Failure> {
    let draft = Draft::from_bytes("doctor.js", b"const execute = ({ numbers }) => numbers.reduce((a, b) => a + b)")?;
    let params = Params::parse(r#"{"numbers": [1, 2, 3]}"#)?;
    Ok(toolbox.exec(&draft, &params, &Budget::default(), &Run::default(), Precheck::Off)?)
}

fn is_right(report: &Report) -> bool {
    matches!(&report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "6")
}

pub(crate) fn run(
    args: &DoctorArgs,
    dir: Option<&Path>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    if args.seccomp {
        return seccomp::print(&args.allow, streams);
    }
    let sandbox = SandboxFindings::look(args.sandbox);
    let machine = Machine::look();
    let store = during("looking", streams, || StoreFindings::look(dir));
    let found_out = sandbox.kind.filter(|kind| *kind == Kind::Roomy || !sandbox.passed_over.is_empty());
    let missing = missing(found_out, sandbox.deadlines, &machine, &store);
    let findings = Findings {
        works: matches!(sandbox.end, End::Works),
        version: env!("CARGO_PKG_VERSION"),
        engine: format!("wasmtime {ENGINE_VERSION}"),
        guest: GUEST_DIGEST,
        sandbox,
        machine,
        jail: JailFindings::look(args.sandbox.config()),
        store,
        missing,
    };
    if json {
        let text = serde_json::to_string(&findings).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        print_text(&findings, streams)?;
    }
    Ok(match &findings.sandbox.end {
        End::Works if findings.store.is_busy() && findings.store.is_good() => Exit::Limit,
        End::Works if findings.store.is_good() => Exit::Done,
        End::Works => Exit::Integrity,
        End::Wrong => Exit::Bug,
        End::Ended(exit) => *exit,
        End::None(failure) if json => failure.exit(),
        End::None(failure) => failure.print(json, lang, streams),
    })
}

fn print_text(findings: &Findings, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let out = &mut *streams.output;
    writeln!(out, "toolcell       {}", findings.version)?;
    writeln!(out, "engine         {}", findings.engine)?;
    writeln!(out, "guest          {}", &findings.guest[..16])?;
    if let Some(kind) = findings.sandbox.kind {
        let what = match kind {
            Kind::Roomy => "native code, no bounds checks, 4 GiB of address space a call",
            Kind::Bounded => "native code with bounds checks, as much address space as memory",
            Kind::Interpreted => "interpreter, no executable pages, about 30 times slower",
        };
        writeln!(out, "image          {} ({what})", kind.name())?;
    }
    for passed_over in &findings.sandbox.passed_over {
        writeln!(out, "  not {:<9} {}", passed_over.image, visible(&passed_over.reason))?;
    }
    if let Some(deadlines) = findings.sandbox.deadlines {
        writeln!(out, "deadlines      {}", deadlines.text())?;
    }
    print_machine(&findings.machine, streams)?;
    let out = &mut *streams.output;
    if let (Some(ms), Some(fuel)) = (findings.sandbox.first_call_ms, findings.sandbox.fuel) {
        writeln!(out, "first call     {ms} ms, {fuel} fuel")?;
    }
    writeln!(out, "jail           {}", findings.jail.text())?;
    findings.store.print(streams)?;
    let out = &mut *streams.output;
    for missing in &findings.missing {
        writeln!(out, "missing        {}: {}", missing.what, missing.cost)?;
    }
    match &findings.sandbox.end {
        End::Works => writeln!(out, "works"),
        End::Wrong => writeln!(out, "does not work: the first call gave a wrong answer"),
        End::Ended(_) => {
            let message = findings.sandbox.error.as_ref().map_or("", ErrorBody::message);
            writeln!(out, "does not work: {}", visible(message))
        }
        End::None(_) => writeln!(out, "does not work"),
    }
}

fn print_machine(machine: &Machine, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mib = |bytes: Option<u64>| bytes.map_or_else(|| "unlimited".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
    let yes = |is: bool| if is { "yes" } else { "no" };
    let files = machine.open_files.map_or_else(|| "unlimited".to_owned(), |files| files.to_string());
    let privileges =
        machine.no_new_privileges.map_or("unknown", |none| if none { "none new" } else { "may be gained" });
    let out = &mut *streams.output;
    writeln!(out, "kernel         {}", visible(&machine.kernel))?;
    writeln!(out, "user           {}, home: {}", machine.user, yes(machine.home))?;
    writeln!(out, "address space  {}", mib(machine.address_space_bytes))?;
    writeln!(out, "memory         {}", mib(machine.memory_bytes))?;
    writeln!(out, "open files     {files}")?;
    writeln!(out, "cores          {}", machine.cores)?;
    writeln!(out, "/proc          {}, pagemap_scan: {}", yes(machine.proc), yes(machine.pagemap_scan))?;
    writeln!(out, "network        {}", yes(machine.network))?;
    writeln!(out, "seccomp        {}, privileges: {privileges}", machine.seccomp)
}
