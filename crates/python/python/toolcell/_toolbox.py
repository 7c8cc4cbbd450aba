"""The toolbox without an event loop."""

from __future__ import annotations

import contextvars
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _native, _requests
from ._errors import ToolcellError, ToolFailed, error_from_json
from ._host import Approver, EffectApprover, Function, HostState, RunHost, SecretSource
from ._json import Json, check_text, encode, encode_object
from ._lazy import LazyModule
from ._requests import Caller, Isolation, Limits
from ._run import Run

if TYPE_CHECKING:
    import inspect

    from . import _results, _suspend
    from ._hooks import Hook
    from ._results import (
        Adopted,
        Analysis,
        CallResult,
        Created,
        Decision,
        Deleted,
        Explanation,
        Hit,
        Proof,
        Question,
        Reflection,
        Replay,
        Tool,
        ToolDefinition,
        ToolDetails,
        ToolList,
    )
    from ._suspend import SuspendedRun, SuspendedRunInfo
else:
    inspect, _results, _suspend = (LazyModule(name) for name in ("inspect", "toolcell._results", "toolcell._suspend"))

_Self = TypeVar("_Self", bound="Toolbox")
_T = TypeVar("_T")


def _wait(value: Any, timeout: float | None, name: str) -> Any:
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError(f"{name} is asynchronous: use an AsyncToolbox")
    return value


def finish(native: _native.Run, host: RunHost) -> Run[Any]:
    """Returns a run that took place, or raises how it failed."""
    failure = native.failure
    if failure is None:
        value = native.value
        return Run(native, None if value is None else json.loads(value))
    error = error_from_json(failure, Run(native, None))
    raise error from (host.cause_of(error.message) if isinstance(error, ToolFailed) else None)


def finish_suspendable(native: _native.Run | str, host: RunHost) -> Run[Any] | SuspendedRun:
    """Returns a run that was suspended, or one that took place."""
    return _suspend.to_suspended_run(native) if isinstance(native, str) else finish(native, host)


class _BlockingHost(RunHost):
    """Serves a call that blocks its thread."""

    def __init__(
        self, state: HostState, functions: dict[str, Function], effect_approver: EffectApprover | None = None
    ) -> None:
        super().__init__(state, functions, _wait, contextvars.copy_context(), effect_approver)
        self.cancel = _native.Cancel(threading.current_thread() is threading.main_thread())
        self.on_interrupt = self.cancel.cancel

    def follow(self, call: Callable[[], _T]) -> _T:
        """Returns what a call gives, or raises what is for the caller."""
        try:
            done = call()
        except _native.NativeError as error:
            failure = str(error)
        else:
            self.raise_for_caller()
            return done
        finally:
            self.waiting.has_ended = True
        # Outside of the handler: what is raised keeps its own cause.
        self.raise_for_caller()
        raise error_from_json(failure)

    def sink(self, on_update: Callable[[Json], None] | None) -> Callable[[str], None] | None:
        """Returns what gets partial results."""
        if on_update is None:
            return None

        def sink(update: str) -> None:
            try:
                on_update(json.loads(update))
            except BaseException as error:
                # It is for the caller: the run ends, and raises it.
                self.interrupt = self.interrupt or error
                self.cancel.cancel()

        return sink


class Toolbox:
    """Creates and runs tools, each call in a sealed cell.

    ``dir`` is the folder of the store; without it nothing is stored, and only :meth:`run_code`,
    :meth:`analyze` and :meth:`replay` make sense. ``policy`` is TOML (a ``str``) or the path of a file (a ``Path``);
    without it the built-in policy holds. ``isolation`` is ``"worker"`` (each call in a confined process
    of its own pool) or ``"process"`` (in this process, without signal handlers).

    ``functions`` are lent to tools, which call them with ``tools.call(name, parameters)`` where they are
    granted it; they run on the thread of the caller. ``hooks`` decide about calls, ``approver`` is asked
    where an approval is missing, and ``secrets`` has the values of granted secrets.

    A toolbox may be used by several threads. Ctrl-C cancels a run on the main thread.

    >>> with Toolbox(isolation="process") as box:
    ...     box.run_code("const execute = ({ n }) => 2 * n", {"n": 21}).value
    42
    """

    def __init__(
        self,
        dir: str | os.PathLike[str] | None = None,
        *,
        policy: str | os.PathLike[str] | None = None,
        isolation: Isolation = "worker",
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        hooks: Sequence[Hook] = (),
        approver: Approver | None = None,
        secrets: SecretSource | None = None,
        slots: int | None = None,
        cwd: str | os.PathLike[str] | None = None,
        lang: str = "en",
    ) -> None:
        self._dir = dir
        self._state = HostState(functions, hooks, approver, secrets)
        for name, function in self._state.functions.items():
            _check_sync(name, function)
        options = _requests.open_options(
            self._state, dir=dir, policy=policy, isolation=isolation, slots=slots, cwd=cwd, lang=lang, inline=True
        )
        try:
            self._session = _native.Session(options, RunHost(self._state, self._state.functions, _wait))
        except _native.NativeError as error:
            raise error_from_json(str(error)) from None
        self._closed = threading.Event()

    def close(self) -> None:
        """Cancels all runs, waits for their end, and ends the worker processes."""
        self._closed.set()
        self._session.close()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()

    def run(
        self,
        tool: str,
        params: Mapping[str, Any] | None = None,
        *,
        limits: Limits | None = None,
        seed: int = 0,
        caller: Caller | None = None,
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        on_update: Callable[[Json], None] | None = None,
        receipt: bool = False,
        profile: bool = False,
        effect_approver: EffectApprover | None = None,
        labels: Sequence[str] | None = None,
    ) -> Run[Any]:
        """Runs a stored tool, by its name or identifier. ``on_update`` gets partial results.

        ``effect_approver`` decides about the side effects of the tool before they happen; those that it
        refuses or defers do not. What it raises is raised at the end of the run, without any further effect.
        ``profile`` takes a fuel profile (:attr:`Run.profile`). ``labels`` are the sources of all that the caller
        knows, for rules about flows: those of the results that it was given (:attr:`Run.labels`). Without them it
        is what the store remembers of earlier runs.

        Raises :class:`ToolFailed`, :class:`Stopped` (:class:`RunTimeout` for a deadline) or :class:`Refused`.
        """
        options, own = _requests.call_options(
            limits=limits,
            seed=seed,
            caller=caller,
            receipt=receipt,
            functions=functions,
            grants=None,
            inline=True,
            profile=profile,
            effect_approver=effect_approver,
            labels=labels,
        )
        check_text(tool, "tool")
        _requests.check_has_store(self._dir, "run")
        return self._run("tool", tool, params, options, own, on_update, effect_approver)

    def run_code(
        self,
        code: str,
        params: Mapping[str, Any] | None = None,
        *,
        limits: Limits | None = None,
        seed: int = 0,
        caller: Caller | None = None,
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        grants: Mapping[str, Any] | None = None,
        on_update: Callable[[Json], None] | None = None,
        profile: bool = False,
        labels: Sequence[str] | None = None,
    ) -> Run[Any]:
        """Runs TypeScript or JavaScript that defines ``execute(params)`` once, and stores nothing.

        The code is granted ``grants`` (as in a policy: ``{"timers": True}``), and all functions of this
        call and of the toolbox. ``profile`` and ``labels`` are those of :meth:`run`.

        Raises as :meth:`run`.
        """
        options, own = _requests.call_options(
            limits=limits,
            seed=seed,
            caller=caller,
            receipt=False,
            functions=functions,
            grants=grants,
            inline=True,
            profile=profile,
            labels=labels,
        )
        return self._run("code", code, params, options, own, on_update)

    def run_suspendable(
        self,
        tool: str,
        params: Mapping[str, Any] | None = None,
        *,
        limits: Limits | None = None,
        seed: int = 0,
        caller: Caller | None = None,
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        on_update: Callable[[Json], None] | None = None,
        effect_approver: EffectApprover | None = None,
        labels: Sequence[str] | None = None,
    ) -> Run[Any] | SuspendedRun:
        """Runs a stored tool, and suspends the run when all that it waits for takes time.

        It may wait for a decision that ``effect_approver`` defers (``None``), and for a function that answers
        later (:class:`Deferred`). :meth:`suspended` lists the suspended runs of the store, and :meth:`resume`
        resumes one, also in another process.

        Raises as :meth:`run`. What the approver raises is raised once the run is suspended or has ended.
        """
        options, own = _requests.call_options(
            limits=limits,
            seed=seed,
            caller=caller,
            receipt=False,
            functions=functions,
            grants=None,
            inline=True,
            effect_approver=effect_approver,
            labels=labels,
        )
        check_text(tool, "tool")
        _requests.check_has_store(self._dir, "run_suspendable")
        wire, host = encode_object(params, "params"), self._run_host(own, effect_approver)
        return self._run_suspendable("suspendable", tool, wire, options, host, on_update)

    def resume(
        self,
        run: str | SuspendedRun | SuspendedRunInfo,
        *,
        answers: Mapping[str, Any] | None = None,
        caller: Caller | None = None,
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        on_update: Callable[[Json], None] | None = None,
        effect_approver: EffectApprover | None = None,
    ) -> Run[Any] | SuspendedRun:
        """Resumes a suspended run until it ends or is suspended again. A run is resumed at most once.

        ``effect_approver`` decides about what is held, and about later effects: ``digest`` tells which ones were
        seen. Without one, what is held stays held. ``answers`` are those of functions, by their tickets; an
        exception is a failure of the function. The functions themselves have to be there again, because an
        answer is checked against the result that they declare.

        Raises as :meth:`run`; a run that is :class:`Refused` stays suspended.
        """
        options, own = _requests.call_options(
            limits=None,
            seed=0,
            caller=caller,
            receipt=False,
            functions=functions,
            grants=None,
            inline=True,
            effect_approver=effect_approver,
        )
        suspended, wire, failures = _requests.resume_request(run, answers)
        _requests.check_has_store(self._dir, "resume")
        host = self._run_host(own, effect_approver)
        host.errors.extend(failures)
        return self._run_suspendable("resume", suspended, wire, options, host, on_update)

    def suspended(self) -> Sequence[SuspendedRunInfo]:
        """Returns the suspended runs, the oldest first."""
        return _suspend.to_suspended_run_infos(self._call("suspended", {}))

    def _run(
        self,
        kind: Literal["tool", "code"],
        subject: str,
        params: Mapping[str, Any] | None,
        options: str,
        own: dict[str, Function],
        on_update: Callable[[Json], None] | None,
        effect_approver: EffectApprover | None = None,
    ) -> Run[Any]:
        check_text(subject, kind)
        wire = encode_object(params, "params")
        host, session = self._run_host(own, effect_approver), self._session
        sink = host.sink(on_update)
        return finish(host.follow(lambda: session.run(kind, subject, wire, options, host, sink, host.cancel)), host)

    def _run_suspendable(
        self,
        kind: Literal["suspendable", "resume"],
        subject: str,
        wire: str,
        options: str,
        host: _BlockingHost,
        on_update: Callable[[Json], None] | None,
    ) -> Run[Any] | SuspendedRun:
        session, sink = self._session, host.sink(on_update)
        ended = host.follow(lambda: session.run(kind, subject, wire, options, host, sink, host.cancel))
        return finish_suspendable(ended, host)

    def _run_host(self, own: dict[str, Function], effect_approver: EffectApprover | None = None) -> _BlockingHost:
        for name, function in own.items():
            _check_sync(name, function)
        functions = {**self._state.functions, **own} if own else self._state.functions
        return _BlockingHost(self._state, functions, effect_approver)

    def definitions(self, *, operations: Sequence[str] | None = None, published: int = 32) -> Sequence[ToolDefinition]:
        """Returns what a model is offered: the operations (some, or none), and up to ``published`` approved tools."""
        answer = self._call(*_requests.definitions_request(operations, published))
        return [_results.from_json(_results.ToolDefinition, tool) for tool in answer["tools"]]

    def questions(
        self, name: str, args: Mapping[str, Any] | None = None, *, caller: Caller | None = None
    ) -> Sequence[Question]:
        """Returns the questions that a person has to answer before a call would run. Runs nothing."""
        answer = self._call(*_requests.questions_request(name, args, caller))
        return [_results.from_json(_results.Question, question) for question in answer["questions"]]

    def call(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        *,
        approved: Sequence[Question] = (),
        limits: Limits | None = None,
        caller: Caller | None = None,
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        on_update: Callable[[Json], None] | None = None,
    ) -> CallResult:
        """Calls what :meth:`definitions` offers, by name. Raises nothing that a model or a tool is to blame for.

        ``approved`` are the :meth:`questions` that a person answered with yes: for this call, and for what
        was shown. If the tool, its grants or the parameters are others by now, the call is refused.
        """
        options, own = _requests.call_options(
            limits=limits,
            seed=0,
            caller=caller,
            receipt=False,
            functions=functions,
            grants=None,
            inline=True,
            approved=approved,
        )
        check_text(name, "name")
        wire = encode_object(args, "args")
        host, session = self._run_host(own), self._session
        sink = host.sink(on_update)
        call = host.follow(lambda: session.call_tool(name, wire, options, host, sink, host.cancel))
        return _requests.to_call_result(*call)

    def create(
        self,
        name: str,
        description: str,
        code: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        returns: Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | Sequence[str] | None = None,
        examples: Sequence[Mapping[str, Any]] = (),
        tags: Sequence[str] = (),
        generated_from: str | None = None,
        replace: bool = False,
    ) -> Created:
        """Analyses a tool and stores it under the hash of its content.

        ``parameters`` are ``{name: {"type": …, "required": …}}`` or a JSON Schema, ``returns`` is a JSON
        Schema, and ``examples`` are ``{"parameters": …, "result": …}``.
        """
        request = _requests.create_request(
            name, description, code, parameters, returns, capabilities, examples, tags, generated_from, replace
        )
        return _results.from_json(_results.Created, self._call(*request))

    def adopt(self, source: str, *, name: str = "tools.ts", replace: bool = False) -> list[Adopted]:
        """Stores each tool of a file that was written for pi or oh-my-pi, under its own name."""
        return _requests.to_adopted(self._call("adopt", {"name": name, "source": source, "replace": replace}))

    def list(
        self,
        *,
        name: str | None = None,
        tags: Sequence[str] = (),
        status: str | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ToolList:
        """Lists stored tools, a page at a time."""
        return _requests.to_list(self._call(*_requests.list_request(name, tags, status, sort, limit, cursor)))

    def show(self, tool: str, *, version: int | None = None) -> ToolDetails:
        """Returns all about a tool, or about a version of it (from 1)."""
        return _results.from_json(_results.ToolDetails, self._call("show", {"tool": tool, "version": version}))

    def delete(self, tool: str) -> Deleted:
        """Deletes a tool. Its versions stay in the store."""
        return _results.from_json(_results.Deleted, self._call("delete", {"tool": tool}))

    def search(self, query: str, *, limit: int = 10) -> Sequence[Hit]:
        """Returns the tools that match a text, the best first."""
        return _requests.to_hits(self._call("search", {"query": query, "limit": limit}))

    def reflect(
        self,
        task: str,
        *,
        last_tool_result: str = "",
        failed_attempts: int = 0,
        history: Sequence[Json] = (),
    ) -> Reflection:
        """Recommends whether to create a tool for a task, which one, or which existing tool to use."""
        request = _requests.reflect_request(task, last_tool_result, failed_attempts, history)
        return _requests.to_reflection(self._call(*request))

    def verify(self, tool: str, *, cases: int | None = None, seed: int = 0) -> Proof:
        """Verifies a tool by its examples, its determinism and generated inputs; the result is stored."""
        return _requests.to_proof(self._call(*_requests.verify_request(tool, cases, seed)))

    def decide(
        self,
        tool_name: str,
        tool_args: Mapping[str, Any],
        *,
        session: str | None = None,
        agent: str | None = None,
        call: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        ask: bool = True,
    ) -> Decision:
        """Decides about a call of a tool that Toolcell does not run, such as a shell. ``ask``: the approver may be asked."""
        request = _requests.decide_request(tool_name, tool_args, session, agent, call, cwd, ask)
        return _requests.to_decision(self._call(*request))

    def explain(self, tool: str, params: Mapping[str, Any] | None = None) -> Explanation:
        """Explains how a run would be decided, and runs nothing."""
        return _requests.to_explanation(self._call("explain", {"tool": tool, "parameters": params}))

    def question(self, tool: str) -> Question:
        """Returns what a person needs to approve a tool."""
        return _results.from_json(_results.Question, self._call("approval", {"tool": tool}))

    def approve(self, tool: str | Question, *, by: str = "python") -> None:
        """Approves a tool with the grants that the policy gives it now; a :class:`Question`, if it is still as it was shown."""
        self._call(*_requests.approve_request(tool, by))

    def refuse(self, tool: str, *, by: str = "python") -> None:
        """Refuses a tool, whatever the policy grants it."""
        self._call("refuse", {"tool": tool, "by": by})

    def pending(self) -> Sequence[Tool]:
        """Returns the tools that wait for an approval."""
        return _requests.to_tools(self._call("pending", {}))

    def analyze(self, source: str) -> Analysis:
        """Analyses a source, and runs nothing."""
        return _results.from_json(_results.Analysis, self._call("analyze", {"source": source}))

    def replay(self, receipt: str, *, any_version: bool = False) -> Replay:
        """Runs a tool again from the receipt of a run, and compares. It performs no effect, and needs no store.

        A run of another guest or engine is refused, unless ``any_version``: then that is one of the ``notes``.
        """
        return _results.from_json(_results.Replay, self._call(*_requests.replay_request(receipt, any_version)))

    def changes(self, *, timeout: float | None = None) -> Iterator[None]:
        """Yields after each change of the tools or their approvals, whoever makes it; several may be one.

        It blocks, looks at the store twice a second, and ends when the toolbox is closed, or after ``timeout``
        seconds without a change. What changed before the iteration starts does not count.
        """
        poll = _requests.ChangePoll(timeout)
        _requests.check_has_store(self._dir, "changes")
        return self._changes(poll)

    def _changes(self, poll: _requests.ChangePoll) -> Iterator[None]:
        poll.has_changed(self._call("generation", {}))
        poll.wait_anew()
        while (pause := poll.pause()) is not None:
            if self._closed.wait(pause):
                return
            try:
                has_changed = poll.has_changed(self._call("generation", {}))
            except ToolcellError:
                if self._closed.is_set():
                    return
                raise
            if has_changed:
                yield
                poll.wait_anew()

    def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        _requests.check_has_store(self._dir, operation)
        wire = encode(request, f"the {operation} request")
        host, session = self._run_host({}), self._session
        answer: dict[str, Any] = json.loads(host.follow(lambda: session.call(operation, wire, host, host.cancel)))
        return answer


def _check_sync(name: str, function: Function) -> None:
    if function.is_async:
        raise TypeError(f"the function `{name}` is asynchronous: use an AsyncToolbox")

