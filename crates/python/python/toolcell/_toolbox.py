"""The toolbox without an event loop."""

from __future__ import annotations

import contextvars
import inspect
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from . import _native, _requests
from ._errors import ToolFailed, error_from_json
from ._host import Approver, Function, Hook, HostState, RunHost, SecretSource
from ._json import Json, check_text, encode, encode_object
from ._requests import Caller, Isolation, Limits
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
    Run,
    Tool,
    ToolDefinition,
    ToolDetails,
    ToolList,
    from_json,
)

_Self = TypeVar("_Self", bound="Toolbox")
_T = TypeVar("_T")


def _wait(value: Any, timeout: float | None) -> Any:
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError("it is asynchronous: use an AsyncToolbox")
    return value


def finish(native: _native.Run, host: RunHost) -> Run[Any]:
    """Returns a run that took place, or raises how it failed."""
    failure = native.failure
    if failure is None:
        value = native.value
        return Run(native, None if value is None else json.loads(value))
    error = error_from_json(failure, Run(native, None))
    raise error from (host.cause_of(error.message) if isinstance(error, ToolFailed) else None)


class _BlockingHost(RunHost):
    """Serves a call that blocks its thread."""

    def __init__(self, state: HostState, functions: dict[str, Function]) -> None:
        super().__init__(state, functions, _wait, contextvars.copy_context())
        self.cancel = _native.Cancel(threading.current_thread() is threading.main_thread())
        self.on_interrupt = self.cancel.cancel

    def follow(self, call: Callable[[], _T]) -> _T:
        """Returns what a call gives, or raises what is for the caller."""
        try:
            done = call()
        except _native.NativeError as error:
            raise self.interrupt or error_from_json(str(error)) from None
        self.raise_interrupt()
        return done

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

    ``dir`` is the folder of the store; without it nothing is stored, and only :meth:`run_code` and
    :meth:`analyze` make sense. ``policy`` is TOML (a ``str``) or the path of a file (a ``Path``);
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

    def close(self) -> None:
        """Cancels all runs, waits for their end, and ends the worker processes."""
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
    ) -> Run[Any]:
        """Runs a stored tool, by its name or identifier. ``on_update`` gets partial results.

        Raises :class:`ToolFailed`, :class:`Stopped` (:class:`RunTimeout` for a deadline) or :class:`Refused`.
        """
        options, own = _requests.call_options(
            limits=limits, seed=seed, caller=caller, receipt=receipt, functions=functions, grants=None, inline=True
        )
        return self._run(False, tool, params, options, own, on_update)

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
    ) -> Run[Any]:
        """Runs TypeScript or JavaScript that defines ``execute(params)`` once, and stores nothing.

        The code is granted ``grants`` (as in a policy: ``{"timers": True}``), and all functions of this
        call and of the toolbox.

        Raises as :meth:`run`.
        """
        options, own = _requests.call_options(
            limits=limits, seed=seed, caller=caller, receipt=False, functions=functions, grants=grants, inline=True
        )
        return self._run(True, code, params, options, own, on_update)

    def _run(
        self,
        is_code: bool,
        subject: str,
        params: Mapping[str, Any] | None,
        options: str,
        own: dict[str, Function],
        on_update: Callable[[Json], None] | None,
    ) -> Run[Any]:
        check_text(subject, "code" if is_code else "tool")
        if not is_code:
            _requests.check_has_store(self._dir, "run")
        wire = encode_object(params, "params")
        host, session = self._run_host(own), self._session
        sink = host.sink(on_update)
        return finish(host.follow(lambda: session.run(is_code, subject, wire, options, host, sink, host.cancel)), host)

    def _run_host(self, own: dict[str, Function]) -> _BlockingHost:
        for name, function in own.items():
            _check_sync(name, function)
        functions = {**self._state.functions, **own} if own else self._state.functions
        return _BlockingHost(self._state, functions)

    def definitions(self, *, operations: Sequence[str] | None = None, published: int = 32) -> Sequence[ToolDefinition]:
        """Returns what a model is offered: the operations (some, or none), and up to ``published`` approved tools."""
        answer = self._call(*_requests.definitions_request(operations, published))
        return [from_json(ToolDefinition, tool) for tool in answer["tools"]]

    def questions(
        self, name: str, args: Mapping[str, Any] | None = None, *, caller: Caller | None = None
    ) -> Sequence[Question]:
        """Returns the questions that a person has to answer before a call would run. Runs nothing."""
        answer = self._call(*_requests.questions_request(name, args, caller))
        return [from_json(Question, question) for question in answer["questions"]]

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
        return from_json(Created, self._call(*request))

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
        return from_json(ToolDetails, self._call("show", {"tool": tool, "version": version}))

    def delete(self, tool: str) -> Deleted:
        """Deletes a tool. Its versions stay in the store."""
        return from_json(Deleted, self._call("delete", {"tool": tool}))

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
        return from_json(Question, self._call("approval", {"tool": tool}))

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
        return from_json(Analysis, self._call("analyze", {"source": source}))

    def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        _requests.check_has_store(self._dir, operation)
        wire = encode(request, f"the {operation} request")
        host, session = self._run_host({}), self._session
        answer: dict[str, Any] = json.loads(host.follow(lambda: session.call(operation, wire, host, host.cancel)))
        return answer


def _check_sync(name: str, function: Function) -> None:
    if function.is_async:
        raise TypeError(f"the function `{name}` is asynchronous: use an AsyncToolbox")

