//! The native module of the package `toolcell` for Python. The package itself is in Python
//! (`crates/python/python`): this module passes JSON, and has no manners.
//!
//! Invariant: the interpreter is not held while a tool runs, no Python code runs while a lock of Rust is held, and a process that is
//! forked finds no lock of this module taken.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_utils::atomic::AtomicCell;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use toolcell_bindings::{
    CallOptions, Callback, CancelToken, CompletedRun, EndedRun, Failure, Host, PartialResultSink, RunControl, RunKind,
    SessionHandle, Work,
};

create_exception!(
    toolcell_native,
    NativeError,
    PyException,
    "An error of Toolcell; its argument is the error as JSON."
);

fn raise(failure: &Failure) -> PyErr {
    NativeError::new_err(failure.to_json())
}

/// How many threads of Toolcell are in Python, below the process that they belong to: a process that was forked has none of
/// those of its parent. The interpreter must not end meanwhile.
static IN_PYTHON: AtomicU64 = AtomicU64::new(0);
/// The process whose interpreter is about to end: no thread of it enters Python any more.
static ENDED: AtomicU64 = AtomicU64::new(0);
/// The longest wait for functions of the host, when the interpreter is about to end.
const MAX_WAIT_AT_EXIT: Duration = Duration::from_secs(5);
const POLL_AT_EXIT: Duration = Duration::from_millis(1);
const THREAD_BITS: u32 = 32;

fn this_process() -> u64 {
    u64::from(std::process::id())
}

/// Returns how many threads of this process a value of [`IN_PYTHON`] counts.
fn threads_of_process(value: u64) -> u64 {
    if value >> THREAD_BITS == this_process() { value & u64::from(u32::MAX) } else { 0 }
}

fn count_threads(change: impl Fn(u64) -> u64) {
    let counted = |value| Some(this_process() << THREAD_BITS | change(threads_of_process(value)));
    // It always returns a value.
    let _ = IN_PYTHON.fetch_update(Ordering::SeqCst, Ordering::SeqCst, counted);
}

/// Marks a thread as being in Python, until it is dropped.
struct InPython;

impl InPython {
    fn enter() -> Self {
        count_threads(|threads| threads + 1);
        Self
    }
}

impl Drop for InPython {
    fn drop(&mut self) {
        count_threads(|threads| threads.saturating_sub(1));
    }
}

/// Calls Python from a thread of Toolcell; `None` if the interpreter has ended, or is about to.
fn attach<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _in_python = InPython::enter();
    if ENDED.load(Ordering::SeqCst) == this_process() {
        return None;
    }
    Python::try_attach(|py| {
        let done = work(py);
        drop_released(py);
        done
    })
}

/// Waits until no thread of Toolcell is in Python, and lets none in: the interpreter is about to end.
#[pyfunction]
fn end(py: Python<'_>) {
    py.detach(|| {
        ENDED.store(this_process(), Ordering::SeqCst);
        let began = Instant::now();
        // A function that hangs does not hold up the end of the program for ever.
        while threads_of_process(IN_PYTHON.load(Ordering::SeqCst)) > 0 && began.elapsed() < MAX_WAIT_AT_EXIT {
            std::thread::sleep(POLL_AT_EXIT);
        }
    });
}

/// A reference that any thread may let go of: it is dropped by the next one that is in Python.
///
/// `PyO3` keeps what a thread lets go of outside Python behind a lock, which a child finds taken for ever if it was forked at
/// that moment.
struct Reference(Option<Py<PyAny>>);

impl Reference {
    fn new(object: Py<PyAny>) -> Self {
        Self(Some(object))
    }

    #[expect(clippy::expect_used, reason = "it is taken when it is dropped")]
    fn bind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.0.as_ref().expect("a reference that is not dropped").bind(py)
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            release(Some(Box::new(Released { object, next: None })));
        }
    }
}

/// References that were let go of: a list. A thread takes the whole list, or puts a whole one there.
struct Released {
    object: Py<PyAny>,
    next: Option<Box<Released>>,
}

static RELEASED: AtomicCell<Option<Box<Released>>> = AtomicCell::new(None);

/// Adds references without a lock. What a thread of a parent had taken at a fork is lost to the child, and leaks.
fn release(mut added: Option<Box<Released>>) {
    while added.is_some() {
        let mut end = &mut added;
        while let Some(released) = end {
            end = &mut released.next;
        }
        *end = RELEASED.take();
        // Another thread may have put some there meanwhile.
        added = RELEASED.swap(added);
    }
}

/// Drops what threads let go of.
fn drop_released(py: Python<'_>) {
    let mut released = RELEASED.take();
    while let Some(first) = released {
        first.object.drop_ref(py);
        released = first.next;
    }
}

/// Works without the interpreter, and drops what the work has let go of.
fn detach<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let done = py.detach(work);
    drop_released(py);
    done
}

/// A function of Python: `(kind, name, payload, timeout) -> answer`.
struct PythonHost(Reference);

impl Host for PythonHost {
    fn call(&self, callback: Callback, name: &str, payload: &str, timeout: Option<Duration>) -> Result<String, String> {
        let answer = attach(|py| {
            let timeout = timeout.map(|timeout| timeout.as_secs_f64());
            let answer = self.0.bind(py).call1((callback.name(), name, payload, timeout));
            // The package has made a text of it: the exception may have none.
            answer.and_then(|answer| answer.extract::<String>()).map_err(|error| error.value(py).to_string())
        });
        answer.unwrap_or_else(|| Err("the interpreter has ended".to_owned()))
    }
}

fn host(callback: Py<PyAny>) -> Arc<dyn Host> {
    Arc::new(PythonHost(Reference::new(callback)))
}

/// Cancels a run.
#[pyclass(frozen, module = "toolcell._native")]
struct Cancel {
    token: CancelToken,
    /// What a signal handler raised while the run was polled.
    raised: Arc<Mutex<Option<PyErr>>>,
}

#[pymethods]
impl Cancel {
    /// `interruptible`: whether the run is on the main thread, which serves signals such as Ctrl-C.
    #[new]
    fn new(interruptible: bool) -> Self {
        let raised = Arc::new(Mutex::new(None));
        if !interruptible {
            return Self { token: CancelToken::new(), raised };
        }
        let seen = Arc::clone(&raised);
        let poll = move || {
            #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone is not general enough")]
            let checked = Python::try_attach(|py| py.check_signals());
            let Some(Err(error)) = checked else {
                return seen.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            };
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            true
        };
        Self { token: CancelToken::with_poll(poll), raised }
    }

    fn cancel(&self) {
        self.token.cancel();
    }
}

impl Cancel {
    /// Returns how Python follows a run that this cancels.
    fn control(&self, callback: Py<PyAny>, on_update: Option<Py<PyAny>>) -> RunControl {
        let host = host(callback);
        RunControl { cancel: self.token.clone(), on_update: sink(on_update), host }
    }

    /// Raises what a signal handler raised.
    fn check(&self) -> PyResult<()> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// A run that took place.
#[pyclass(frozen, module = "toolcell._native")]
struct Run(CompletedRun);

#[pymethods]
impl Run {
    #[getter]
    fn value(&self) -> Option<&str> {
        self.0.value()
    }

    #[getter]
    fn failure(&self) -> Option<String> {
        self.0.failure().map(Failure::to_json)
    }

    #[getter]
    fn fuel(&self) -> u64 {
        self.0.usage().fuel
    }

    #[getter]
    fn load_fuel(&self) -> u64 {
        self.0.usage().load_fuel
    }

    #[getter]
    fn memory_bytes(&self) -> usize {
        self.0.usage().memory
    }

    #[getter]
    fn duration(&self) -> f64 {
        self.0.usage().duration.as_secs_f64()
    }

    #[getter]
    fn effects(&self) -> &'static str {
        self.0.effects().name()
    }

    #[getter]
    fn tool(&self) -> Option<(String, &str)> {
        self.0.tool()
    }

    fn text(&self) -> String {
        self.0.text()
    }

    fn details(&self) -> String {
        self.0.details()
    }
}

/// What a call of a model gives: the result as JSON, and the run, if it was one.
type Called = (String, Option<Run>);

fn call_tool(
    handle: &SessionHandle,
    name: &str,
    arguments: &str,
    options: &str,
    control: RunControl,
) -> Result<Called, Failure> {
    let options = CallOptions::parse(options)?;
    let cancel = control.cancel.clone();
    let mut called = handle.with(&cancel, |session| session.call_tool(name, arguments, &options, control))?;
    Ok((called.to_json(), called.take_run().map(Run)))
}

/// How a run ended: what took place, or the JSON of a run that was suspended.
#[derive(IntoPyObject)]
#[expect(clippy::large_enum_variant, reason = "it becomes an object of Python at once")]
enum Ended {
    Run(Run),
    Suspended(String),
}

fn perform(
    handle: &SessionHandle,
    kind: &str,
    subject: &str,
    params: &str,
    options: &str,
    control: RunControl,
) -> Result<Ended, Failure> {
    let (kind, options) = (RunKind::parse(kind)?, CallOptions::parse(options)?);
    let cancel = control.cancel.clone();
    let ended = handle.with(&cancel, |session| session.perform(kind, subject, params, &options, control))?;
    Ok(match ended {
        EndedRun::Completed(ran) => Ended::Run(Run(*ran)),
        EndedRun::Suspended(suspended) => Ended::Suspended(suspended),
    })
}

fn sink(on_update: Option<Py<PyAny>>) -> Option<PartialResultSink> {
    let on_update = Reference::new(on_update?);
    Some(Arc::new(move |update: &str| {
        attach(|py| {
            let on_update = on_update.bind(py);
            if let Err(error) = on_update.call1((update,)) {
                error.write_unraisable(py, Some(on_update));
            }
        });
    }))
}

fn work_of(options: &str) -> PyResult<Work> {
    CallOptions::parse(options).map(|options| options.work()).map_err(|failure| raise(&failure))
}

/// Does work on another thread, where `on_done(done, error)` is called at its end.
fn spawn<T>(kind: Work, on_done: Py<PyAny>, work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> PyResult<()>
where
    Option<T>: for<'py> IntoPyObject<'py>,
{
    let on_done = Reference::new(on_done);
    let started = toolcell_bindings::spawn(kind, move || {
        let done = work();
        attach(move |py| {
            let (done, error) = match done {
                Ok(done) => (Some(done), None),
                Err(failure) => (None, Some(failure.to_json())),
            };
            if let Err(error) = on_done.bind(py).call1((done, error)) {
                error.write_unraisable(py, Some(on_done.bind(py)));
            }
        });
    });
    started.map_err(|failure| raise(&failure))
}

/// Prepares the process for runs. Python forks only where the interpreter is held, as it is here.
fn initialize() {
    static INITIALIZED: Once = Once::new();
    INITIALIZED.call_once(toolcell_bindings::initialize);
}

/// An open toolbox.
#[pyclass(frozen, module = "toolcell._native")]
struct Session(Option<Arc<SessionHandle>>);

impl Session {
    fn new_open(handle: SessionHandle) -> Self {
        Self(Some(Arc::new(handle)))
    }

    #[expect(clippy::expect_used, reason = "it is taken when the object is dropped")]
    fn handle(&self) -> &Arc<SessionHandle> {
        self.0.as_ref().expect("a session that is not dropped")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Python drops it. What it refers to is dropped at once, too.
        drop(self.0.take());
        Python::try_attach(drop_released);
    }
}

#[pymethods]
impl Session {
    #[new]
    fn new(py: Python<'_>, options: &str, callback: Py<PyAny>) -> PyResult<Self> {
        initialize();
        let host = host(callback);
        let opened = detach(py, move || SessionHandle::open(options, &host));
        opened.map(Self::new_open).map_err(|failure| raise(&failure))
    }

    /// Opens a toolbox on another thread; `on_done(session, error)` is called there at its end.
    #[staticmethod]
    fn open(options: String, callback: Py<PyAny>, on_done: Py<PyAny>) -> PyResult<()> {
        initialize();
        spawn(Work::Control, on_done, move || {
            let host = host(callback);
            SessionHandle::open(&options, &host).map(Self::new_open)
        })
    }

    /// Performs an operation: a JSON request, and a JSON answer.
    fn call(
        &self,
        py: Python<'_>,
        operation: &str,
        request: &str,
        callback: Py<PyAny>,
        cancel: &Cancel,
    ) -> PyResult<String> {
        let host = host(callback);
        let token = &cancel.token;
        let handle = self.handle();
        let answer = detach(py, move || handle.with(token, |session| session.call(operation, request, &host, token)));
        cancel.check()?;
        answer.map_err(|failure| raise(&failure))
    }

    /// Performs an operation on another thread; `on_done(answer, error)` is called there at its end.
    fn start_call(
        &self,
        operation: String,
        request: String,
        callback: Py<PyAny>,
        cancel: &Cancel,
        on_done: Py<PyAny>,
    ) -> PyResult<()> {
        let host = host(callback);
        let (handle, token) = (Arc::clone(self.handle()), cancel.token.clone());
        // A hook or a person may be asked, or a tool runs.
        let work = if matches!(&*operation, "decide" | "verify" | "replay" | "run_test") {
            Work::Run { depth: 0 }
        } else {
            Work::Control
        };
        spawn(work, on_done, move || handle.with(&token, |session| session.call(&operation, &request, &host, &token)))
    }

    /// Runs a tool or code, or resumes a run, on this thread.
    #[expect(clippy::too_many_arguments, reason = "an object for them would cost more than the run")]
    fn run(
        &self,
        py: Python<'_>,
        kind: &str,
        subject: &str,
        params: &str,
        options: &str,
        callback: Py<PyAny>,
        on_update: Option<Py<PyAny>>,
        cancel: &Cancel,
    ) -> PyResult<Ended> {
        let control = cancel.control(callback, on_update);
        let ended = detach(py, || perform(self.handle(), kind, subject, params, options, control));
        cancel.check()?;
        ended.map_err(|failure| raise(&failure))
    }

    /// Runs a tool or code, or resumes a run, on another thread; `on_done(run, error)` is called there at its end.
    #[expect(clippy::too_many_arguments, reason = "as above")]
    fn start(
        &self,
        kind: String,
        subject: String,
        params: String,
        options: String,
        callback: Py<PyAny>,
        on_update: Option<Py<PyAny>>,
        cancel: &Cancel,
        on_done: Py<PyAny>,
    ) -> PyResult<()> {
        let control = cancel.control(callback, on_update);
        let handle = Arc::clone(self.handle());
        let work = work_of(&options)?;
        spawn(work, on_done, move || perform(&handle, &kind, &subject, &params, &options, control))
    }

    /// Calls what a model is offered, on this thread.
    #[expect(clippy::too_many_arguments, reason = "as above")]
    fn call_tool(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: &str,
        options: &str,
        callback: Py<PyAny>,
        on_update: Option<Py<PyAny>>,
        cancel: &Cancel,
    ) -> PyResult<Called> {
        let control = cancel.control(callback, on_update);
        let called = detach(py, || call_tool(self.handle(), name, arguments, options, control));
        cancel.check()?;
        called.map_err(|failure| raise(&failure))
    }

    /// Calls what a model is offered, on another thread; `on_done(called, error)` is called there at its end.
    #[expect(clippy::too_many_arguments, reason = "as above")]
    fn start_tool(
        &self,
        name: String,
        arguments: String,
        options: String,
        callback: Py<PyAny>,
        on_update: Option<Py<PyAny>>,
        cancel: &Cancel,
        on_done: Py<PyAny>,
    ) -> PyResult<()> {
        let control = cancel.control(callback, on_update);
        let handle = Arc::clone(self.handle());
        let work = work_of(&options)?;
        spawn(work, on_done, move || call_tool(&handle, &name, &arguments, &options, control))
    }

    /// Cancels all calls, waits for their end, and closes the toolbox.
    fn close(&self, py: Python<'_>) {
        detach(py, || self.handle().close());
    }

    /// Closes the toolbox on another thread; `on_done(True, None)` is called there at its end.
    fn start_close(&self, on_done: Py<PyAny>) -> PyResult<()> {
        let handle = Arc::clone(self.handle());
        spawn(Work::Control, on_done, move || {
            handle.close();
            Ok(true)
        })
    }
}

/// Draws a profile, which is given as JSON, as an SVG image.
#[pyfunction]
fn flame_graph(py: Python<'_>, profile: &str) -> PyResult<String> {
    detach(py, || toolcell_bindings::flame_graph(profile)).map_err(|failure| raise(&failure))
}

/// The native module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Session>()?;
    module.add_class::<Cancel>()?;
    module.add_class::<Run>()?;
    module.add("NativeError", module.py().get_type::<NativeError>())?;
    module.add_function(wrap_pyfunction!(flame_graph, module)?)?;
    let end = wrap_pyfunction!(end, module)?;
    module.py().import("atexit")?.call_method1("register", (end,))?;
    Ok(())
}
