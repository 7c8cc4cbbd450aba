//! The native module of the package `toolcell` for Python. The package itself is in Python
//! (`crates/python/python`): this module passes JSON, and has no manners.
//!
//! Invariant: the interpreter is not held while a tool runs, no Python code runs while a lock of Rust is held, and a process that is
//! forked finds no lock of this module taken.

use std::cell::RefCell;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
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

/// The threads of Toolcell that are in Python. The interpreter must not end meanwhile.
struct Attached {
    threads: usize,
    /// Whether the interpreter is about to end: no thread enters it any more.
    has_ended: bool,
    /// References that were let go of by threads that are not in Python, for one that is.
    released: Vec<Py<PyAny>>,
}

/// A process that is forked has this lock as it was at the fork, and no thread that will release it: [`before_fork`] takes it.
static ATTACHED: Mutex<Attached> = Mutex::new(Attached { threads: 0, has_ended: false, released: Vec::new() });
static LEFT: Condvar = Condvar::new();
/// The longest wait for functions of the host, when the interpreter is about to end.
const MAX_WAIT_AT_EXIT: Duration = Duration::from_secs(5);

thread_local! {
    static HELD_FOR_FORK: RefCell<Option<MutexGuard<'static, Attached>>> = const { RefCell::new(None) };
}

impl Attached {
    fn lock() -> MutexGuard<'static, Self> {
        ATTACHED.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks a thread as being in Python, until it is dropped.
struct InPython;

impl Drop for InPython {
    fn drop(&mut self) {
        let mut attached = Attached::lock();
        attached.threads = attached.threads.saturating_sub(1);
        LEFT.notify_all();
    }
}

/// Calls Python from a thread of Toolcell; `None` if the interpreter has ended, or is about to.
fn attach<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    {
        let mut attached = Attached::lock();
        if attached.has_ended {
            return None;
        }
        attached.threads += 1;
    }
    let _in_python = InPython;
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
        let mut attached = Attached::lock();
        attached.has_ended = true;
        let is_busy = |attached: &mut Attached| attached.threads > 0;
        // A function that hangs does not hold up the end of the program for ever.
        drop(LEFT.wait_timeout_while(attached, MAX_WAIT_AT_EXIT, is_busy));
    });
}

/// Takes the lock that a child would find taken for ever.
#[pyfunction]
fn before_fork() {
    HELD_FOR_FORK.set(Some(Attached::lock()));
}

#[pyfunction]
fn after_fork_in_parent() {
    drop(HELD_FOR_FORK.take());
}

#[pyfunction]
fn after_fork_in_child() {
    if let Some(mut attached) = HELD_FOR_FORK.take() {
        // They are threads of the parent.
        attached.threads = 0;
    }
}

/// A reference that any thread may let go of.
///
/// `PyO3` keeps what a thread lets go of outside Python behind a lock of its own, which a child finds taken for ever if it was
/// forked at that moment. That lock cannot be taken for a fork.
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
        Attached::lock().released.extend(self.0.take());
    }
}

/// Drops what threads let go of. Whatever the destructors of Python do, the lock is not held meanwhile.
fn drop_released(py: Python<'_>) {
    let released = mem::take(&mut Attached::lock().released);
    for object in released {
        object.drop_ref(py);
    }
}

/// Works without the interpreter.
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
        attach(|py| {
            let on_done = on_done.bind(py);
            let (done, error) = match done {
                Ok(done) => (Some(done), None),
                Err(failure) => (None, Some(failure.to_json())),
            };
            if let Err(error) = on_done.call1((done, error)) {
                error.write_unraisable(py, Some(on_done));
            }
        });
    });
    started.map_err(|failure| raise(&failure))
}

/// An open toolbox.
#[pyclass(frozen, module = "toolcell._native")]
struct Session(Arc<SessionHandle>);

#[pymethods]
impl Session {
    #[new]
    fn new(py: Python<'_>, options: &str, callback: Py<PyAny>) -> PyResult<Self> {
        let host = host(callback);
        let opened = detach(py, || SessionHandle::open(options, &host));
        opened.map(|handle| Self(Arc::new(handle))).map_err(|failure| raise(&failure))
    }

    /// Opens a toolbox on another thread; `on_done(session, error)` is called there at its end.
    #[staticmethod]
    fn open(options: String, callback: Py<PyAny>, on_done: Py<PyAny>) -> PyResult<()> {
        spawn(Work::Control, on_done, move || {
            let host = host(callback);
            SessionHandle::open(&options, &host).map(|handle| Self(Arc::new(handle)))
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
        let answer = detach(py, || self.0.with(token, |session| session.call(operation, request, &host, token)));
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
        let (handle, token) = (Arc::clone(&self.0), cancel.token.clone());
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
        let ended = detach(py, || perform(&self.0, kind, subject, params, options, control));
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
        let handle = Arc::clone(&self.0);
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
        let called = detach(py, || call_tool(&self.0, name, arguments, options, control));
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
        let handle = Arc::clone(&self.0);
        let work = work_of(&options)?;
        spawn(work, on_done, move || call_tool(&handle, &name, &arguments, &options, control))
    }

    /// Cancels all calls, waits for their end, and closes the toolbox.
    fn close(&self, py: Python<'_>) {
        detach(py, || self.0.close());
    }

    /// Closes the toolbox on another thread; `on_done(True, None)` is called there at its end.
    fn start_close(&self, on_done: Py<PyAny>) -> PyResult<()> {
        let handle = Arc::clone(&self.0);
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
    let at_fork = PyDict::new(module.py());
    at_fork.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    at_fork.set_item("after_in_parent", wrap_pyfunction!(after_fork_in_parent, module)?)?;
    at_fork.set_item("after_in_child", wrap_pyfunction!(after_fork_in_child, module)?)?;
    module.py().import("os")?.call_method("register_at_fork", (), Some(&at_fork))?;
    Ok(())
}
