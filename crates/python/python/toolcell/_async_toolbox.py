"""The toolbox of an event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import json
import os
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Union

from . import _native, _requests
from ._errors import ToolcellError, error_from_json
from ._host import Approver, Cancelled, EffectApprover, Function, HostState, RunHost, SecretSource, Waiting
from ._json import Json, check_text, encode, encode_object
from ._lazy import LazyModule
from ._requests import Caller, Isolation, Limits
from ._run import Run
from ._toolbox import finish, finish_suspendable

if TYPE_CHECKING:
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
    _results, _suspend = LazyModule("toolcell._results"), LazyModule("toolcell._suspend")

T = TypeVar("T")
N = TypeVar("N")
R = TypeVar("R")
_Self = TypeVar("_Self", bound="_AnyRun[Any, Any]")
OnDone = Callable[[Union[N, None], Union[str, None]], None]
_MAX_UPDATES = 64


class _LoopWaiter:
    """Waits, on the thread of a run, for what runs in the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._pending: set[concurrent.futures.Future[Any]] = set()
        self._has_ended = False
        self.waiting: Waiting | None = None
        self.token = _native.Cancel(False)

    def __call__(self, value: Any, timeout: float | None, name: str) -> Any:
        answer = self._result(value, timeout, name) if inspect.isawaitable(value) else value
        if self._has_ended:
            # What is decided after a run was cancelled does not count.
            raise Cancelled(f"{name} answered after the run had ended")
        return answer

    def _result(self, value: Any, timeout: float | None, name: str) -> Any:
        future = asyncio.run_coroutine_threadsafe(_await(value), self._loop)
        self._pending.add(future)
        if self._has_ended:
            future.cancel()
        try:
            return future.result(timeout)
        except concurrent.futures.TimeoutError as error:
            if future.done():
                raise
            future.cancel()
            raise TimeoutError(f"there was no answer within {timeout} s") from error
        except concurrent.futures.CancelledError as error:
            raise (Cancelled if self._has_ended else RuntimeError)(f"{name} was cancelled") from error
        finally:
            self._pending.discard(future)

    def cancel(self) -> None:
        """Cancels the run, and what it waits for: a person, or a function."""
        self.token.cancel()
        self.end()

    def end(self) -> None:
        """Cancels what is still running: the run has ended."""
        self._has_ended = True
        if self.waiting is not None:
            self.waiting.has_ended = True
        for future in list(self._pending):
            future.cancel()


async def _await(value: Any) -> Any:
    return await value


class _Operation(Generic[N]):
    """What goes on in a thread of its own, until it calls back. It uses no thread of the loop's executor."""

    def __init__(self, waiter: _LoopWaiter, start: Callable[[_native.Cancel, OnDone[N]], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[N] = self._loop.create_future()
        # What is raised is seen by who awaits the run.
        self._done.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._waiter = waiter
        try:
            start(waiter.token, self._on_done)
        except _native.NativeError as error:
            raise error_from_json(str(error)) from None

    def cancel(self) -> None:
        """Cancels the run, which then ends as :class:`Stopped` with the code ``cancelled``."""
        self._waiter.cancel()

    async def end(self) -> N:
        """Waits for the end. Cancelling the task cancels what goes on."""
        try:
            return await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self.cancel()
            await asyncio.wait({self._done})
            raise

    def _on_done(self, done: N | None, error: str | None) -> None:
        self._waiter.end()
        self._post(self._settle, done, error)

    def _settle(self, done: N | None, error: str | None) -> None:
        if self._done.done():
            return
        if done is not None:
            self._done.set_result(done)
        else:
            self._done.set_exception(error_from_json(error or ""))

    def _post(self, call: Callable[..., None], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            # The loop is closed: who waited is gone.
            pass


class _AnyRun(_Operation[N], Generic[N, R]):
    """A run that goes on, whatever it may end with."""

    def __init__(
        self, host: RunHost, waiter: _LoopWaiter, start: Callable[[Callable[[str], None], _native.Cancel, OnDone[N]], None]
    ) -> None:
        self._host = host
        # Written on the thread of the run: what is not read in time is dropped, the oldest first.
        self._updates: deque[Json] = deque(maxlen=_MAX_UPDATES)
        self._lock = threading.Lock()
        self._is_noticed = False
        self._has_update = asyncio.Event()
        super().__init__(waiter, lambda cancel, on_done: start(self._on_update, cancel, on_done))
        host.on_interrupt = waiter.token.cancel

    def _finish(self, native: N) -> R:
        raise NotImplementedError

    def __await__(self) -> Generator[Any, None, R]:
        return self._wait().__await__()

    async def _wait(self) -> R:
        try:
            native = await self.end()
        except ToolcellError as error:
            failure = error
        else:
            self._host.raise_for_caller()
            return self._finish(native)
        # Outside of the handler: what is raised keeps its own cause.
        self._host.raise_for_caller()
        raise failure

    async def __aiter__(self) -> AsyncIterator[Json]:
        while True:
            has_ended = self._done.done()
            for update in self._take():
                yield update
            if has_ended:
                await self._wait()
                return
            update_waiter = asyncio.ensure_future(self._has_update.wait())
            either: set[asyncio.Future[Any]] = {update_waiter, self._done}
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            except (asyncio.CancelledError, GeneratorExit):
                self.cancel()
                raise
            finally:
                update_waiter.cancel()

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.cancel()
        if not self._done.done():
            await asyncio.wait({self._done})

    def _take(self) -> list[Json]:
        with self._lock:
            taken = list(self._updates)
            self._updates.clear()
            self._is_noticed = False
            self._has_update.clear()
            return taken

    def _on_update(self, update: str) -> None:
        value = json.loads(update)
        with self._lock:
            self._updates.append(value)
            if self._is_noticed:
                return
            self._is_noticed = True
        self._post(self._has_update.set)


class AsyncRun(_AnyRun["_native.Run", "Run[T]"], Generic[T]):
    """A run that goes on.

    Await it for its end. Iterate over it for its partial results; the iteration raises what the run
    failed with. Leaving ``async with`` early cancels it, and so does cancelling the task that awaits it.
    Of partial results that are not read, the last 64 are kept.
    """

    def _finish(self, native: _native.Run) -> Run[T]:
        return finish(native, self._host)


class AsyncSuspendableRun(_AnyRun[Union["_native.Run", str], Union["Run[T]", "SuspendedRun"]], Generic[T]):
    """A run that goes on, as :class:`AsyncRun`, and may be suspended: awaiting it gives the run or a :class:`SuspendedRun`."""

    def _finish(self, native: _native.Run | str) -> Run[T] | SuspendedRun:
        return finish_suspendable(native, self._host)


class AsyncToolbox:
    """Creates and runs tools from an event loop: :class:`Toolbox`, with ``await``.

    Functions, hooks and approvers may be coroutine functions, which run in the loop that opened the
    toolbox; plain functions run on the thread of the run. Cancelling a task cancels its run.
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
        self._options = _requests.open_options(
            self._state, dir=dir, policy=policy, isolation=isolation, slots=slots, cwd=cwd, lang=lang, inline=False
        )
        self._session: _native.Session | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = asyncio.Event()
        # Of the runs that go on.
        self._waiters: weakref.WeakSet[_LoopWaiter] = weakref.WeakSet()

    async def open(self) -> AsyncToolbox:
        """Opens the toolbox; ``async with`` does it."""
        if self._session is None:
            self._loop = asyncio.get_running_loop()
            waiter = _LoopWaiter(self._loop)
            host = RunHost(self._state, self._state.functions, _LoopWaiter(self._loop))
            opening: _Operation[_native.Session] = _Operation(
                waiter, lambda _, on_done: _native.Session.open(self._options, host, on_done)
            )
            self._session = await opening.end()
        return self

    async def close(self) -> None:
        """Cancels all runs, waits for their end, and ends the worker processes."""
        session = self._session
        self._closed.set()
        if session is not None:
            waiter = _LoopWaiter(asyncio.get_running_loop())
            closing: _Operation[bool] = _Operation(waiter, lambda _, on_done: session.start_close(on_done))
            for running in list(self._waiters):
                running.cancel()
            await closing.end()

    async def __aenter__(self) -> AsyncToolbox:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        await self.close()

    def run(
        self,
        tool: str,
        params: Mapping[str, Any] | None = None,
        *,
        limits: Limits | None = None,
        seed: int = 0,
        caller: Caller | None = None,
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        receipt: bool = False,
        profile: bool = False,
        effect_approver: EffectApprover | None = None,
        labels: Sequence[str] | None = None,
    ) -> AsyncRun[Any]:
        """Starts a run of a stored tool: see :class:`AsyncRun` and :meth:`Toolbox.run`."""
        options, own = _requests.call_options(
            limits=limits,
            seed=seed,
            caller=caller,
            receipt=receipt,
            functions=functions,
            grants=None,
            inline=False,
            profile=profile,
            effect_approver=effect_approver,
            labels=labels,
        )
        check_text(tool, "tool")
        _requests.check_has_store(self._dir, "run")
        return self._start("tool", tool, params, options, own, effect_approver)

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
        profile: bool = False,
        labels: Sequence[str] | None = None,
    ) -> AsyncRun[Any]:
        """Starts code that is not stored: see :class:`AsyncRun` and :meth:`Toolbox.run_code`."""
        options, own = _requests.call_options(
            limits=limits,
            seed=seed,
            caller=caller,
            receipt=False,
            functions=functions,
            grants=grants,
            inline=False,
            profile=profile,
            labels=labels,
        )
        return self._start("code", code, params, options, own)

    def run_suspendable(
        self,
        tool: str,
        params: Mapping[str, Any] | None = None,
        *,
        limits: Limits | None = None,
        seed: int = 0,
        caller: Caller | None = None,
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        effect_approver: EffectApprover | None = None,
        labels: Sequence[str] | None = None,
    ) -> AsyncSuspendableRun[Any]:
        """Starts a run that may be suspended: see :class:`AsyncSuspendableRun` and :meth:`Toolbox.run_suspendable`."""
        options, own = _requests.call_options(
            limits=limits,
            seed=seed,
            caller=caller,
            receipt=False,
            functions=functions,
            grants=None,
            inline=False,
            effect_approver=effect_approver,
            labels=labels,
        )
        check_text(tool, "tool")
        _requests.check_has_store(self._dir, "run_suspendable")
        wire = encode_object(params, "params")
        return self._start_suspendable("suspendable", tool, wire, options, *self._run_host(own, effect_approver))

    def resume(
        self,
        run: str | SuspendedRun | SuspendedRunInfo,
        *,
        answers: Mapping[str, Any] | None = None,
        caller: Caller | None = None,
        functions: Mapping[str, Callable[..., Any] | Function] | None = None,
        effect_approver: EffectApprover | None = None,
    ) -> AsyncSuspendableRun[Any]:
        """Resumes a suspended run: see :class:`AsyncSuspendableRun` and :meth:`Toolbox.resume`."""
        options, own = _requests.call_options(
            limits=None,
            seed=0,
            caller=caller,
            receipt=False,
            functions=functions,
            grants=None,
            inline=False,
            effect_approver=effect_approver,
        )
        suspended, wire, failures = _requests.resume_request(run, answers)
        _requests.check_has_store(self._dir, "resume")
        host, waiter = self._run_host(own, effect_approver)
        host.errors.extend(failures)
        return self._start_suspendable("resume", suspended, wire, options, host, waiter)

    async def suspended(self) -> Sequence[SuspendedRunInfo]:
        """See :meth:`Toolbox.suspended`."""
        return _suspend.to_suspended_run_infos(await self._call("suspended", {}))

    def _start(
        self,
        kind: Literal["tool", "code"],
        subject: str,
        params: Mapping[str, Any] | None,
        options: str,
        own: dict[str, Function],
        effect_approver: EffectApprover | None = None,
    ) -> AsyncRun[Any]:
        check_text(subject, kind)
        session, wire = self._opened(), encode_object(params, "params")
        host, waiter = self._run_host(own, effect_approver)
        return AsyncRun(
            host,
            waiter,
            lambda sink, cancel, on_done: session.start(kind, subject, wire, options, host, sink, cancel, on_done),
        )

    def _start_suspendable(
        self,
        kind: Literal["suspendable", "resume"],
        subject: str,
        wire: str,
        options: str,
        host: RunHost,
        waiter: _LoopWaiter,
    ) -> AsyncSuspendableRun[Any]:
        session = self._opened()
        return AsyncSuspendableRun(
            host,
            waiter,
            lambda sink, cancel, on_done: session.start(kind, subject, wire, options, host, sink, cancel, on_done),
        )

    def _run_host(
        self, own: dict[str, Function], effect_approver: EffectApprover | None = None
    ) -> tuple[RunHost, _LoopWaiter]:
        waiter = _LoopWaiter(asyncio.get_running_loop())
        self._waiters.add(waiter)
        functions = {**self._state.functions, **own} if own else self._state.functions
        host = RunHost(self._state, functions, waiter, contextvars.copy_context(), effect_approver)
        waiter.waiting = host.waiting
        return host, waiter

    async def definitions(
        self, *, operations: Sequence[str] | None = None, published: int = 32
    ) -> Sequence[ToolDefinition]:
        """See :meth:`Toolbox.definitions`."""
        answer = await self._call(*_requests.definitions_request(operations, published))
        return [_results.from_json(_results.ToolDefinition, tool) for tool in answer["tools"]]

    async def questions(
        self, name: str, args: Mapping[str, Any] | None = None, *, caller: Caller | None = None
    ) -> Sequence[Question]:
        """See :meth:`Toolbox.questions`."""
        answer = await self._call(*_requests.questions_request(name, args, caller))
        return [_results.from_json(_results.Question, question) for question in answer["questions"]]

    async def call(
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
        """See :meth:`Toolbox.call`. Cancelling the task cancels the run; ``on_update`` is called in the loop."""
        options, own = _requests.call_options(
            limits=limits,
            seed=0,
            caller=caller,
            receipt=False,
            functions=functions,
            grants=None,
            inline=False,
            approved=approved,
        )
        check_text(name, "name")
        session, wire = self._opened(), encode_object(args, "args")
        host, waiter = self._run_host(own)
        loop = asyncio.get_running_loop()

        def sink(update: str) -> None:
            assert on_update is not None
            loop.call_soon_threadsafe(on_update, json.loads(update))

        def start(cancel: _native.Cancel, on_done: OnDone[tuple[str, _native.Run | None]]) -> None:
            host.on_interrupt = cancel.cancel
            session.start_tool(name, wire, options, host, None if on_update is None else sink, cancel, on_done)

        called = await _Operation(waiter, start).end()
        host.raise_for_caller()
        return _requests.to_call_result(*called)

    async def create(
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
        """See :meth:`Toolbox.create`."""
        request = _requests.create_request(
            name, description, code, parameters, returns, capabilities, examples, tags, generated_from, replace
        )
        return _results.from_json(_results.Created, await self._call(*request))

    async def adopt(self, source: str, *, name: str = "tools.ts", replace: bool = False) -> list[Adopted]:
        """See :meth:`Toolbox.adopt`."""
        return _requests.to_adopted(await self._call("adopt", {"name": name, "source": source, "replace": replace}))

    async def list(
        self,
        *,
        name: str | None = None,
        tags: Sequence[str] = (),
        status: str | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ToolList:
        """See :meth:`Toolbox.list`."""
        return _requests.to_list(await self._call(*_requests.list_request(name, tags, status, sort, limit, cursor)))

    async def show(self, tool: str, *, version: int | None = None) -> ToolDetails:
        """See :meth:`Toolbox.show`."""
        return _results.from_json(_results.ToolDetails, await self._call("show", {"tool": tool, "version": version}))

    async def delete(self, tool: str) -> Deleted:
        """See :meth:`Toolbox.delete`."""
        return _results.from_json(_results.Deleted, await self._call("delete", {"tool": tool}))

    async def search(self, query: str, *, limit: int = 10) -> Sequence[Hit]:
        """See :meth:`Toolbox.search`."""
        return _requests.to_hits(await self._call("search", {"query": query, "limit": limit}))

    async def reflect(
        self,
        task: str,
        *,
        last_tool_result: str = "",
        failed_attempts: int = 0,
        history: Sequence[Json] = (),
    ) -> Reflection:
        """See :meth:`Toolbox.reflect`."""
        request = _requests.reflect_request(task, last_tool_result, failed_attempts, history)
        return _requests.to_reflection(await self._call(*request))

    async def verify(self, tool: str, *, cases: int | None = None, seed: int = 0) -> Proof:
        """See :meth:`Toolbox.verify`."""
        return _requests.to_proof(await self._call(*_requests.verify_request(tool, cases, seed)))

    async def decide(
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
        """See :meth:`Toolbox.decide`."""
        request = _requests.decide_request(tool_name, tool_args, session, agent, call, cwd, ask)
        return _requests.to_decision(await self._call(*request))

    async def explain(self, tool: str, params: Mapping[str, Any] | None = None) -> Explanation:
        """See :meth:`Toolbox.explain`."""
        return _requests.to_explanation(await self._call("explain", {"tool": tool, "parameters": params}))

    async def question(self, tool: str) -> Question:
        """See :meth:`Toolbox.question`."""
        return _results.from_json(_results.Question, await self._call("approval", {"tool": tool}))

    async def approve(self, tool: str | Question, *, by: str = "python") -> None:
        """See :meth:`Toolbox.approve`."""
        await self._call(*_requests.approve_request(tool, by))

    async def refuse(self, tool: str, *, by: str = "python") -> None:
        """See :meth:`Toolbox.refuse`."""
        await self._call("refuse", {"tool": tool, "by": by})

    async def pending(self) -> Sequence[Tool]:
        """See :meth:`Toolbox.pending`."""
        return _requests.to_tools(await self._call("pending", {}))

    async def analyze(self, source: str) -> Analysis:
        """See :meth:`Toolbox.analyze`."""
        return _results.from_json(_results.Analysis, await self._call("analyze", {"source": source}))

    async def replay(self, receipt: str, *, any_version: bool = False) -> Replay:
        """See :meth:`Toolbox.replay`."""
        return _results.from_json(_results.Replay, await self._call(*_requests.replay_request(receipt, any_version)))

    def changes(self, *, timeout: float | None = None) -> AsyncIterator[None]:
        """See :meth:`Toolbox.changes`."""
        poll = _requests.ChangePoll(timeout)
        _requests.check_has_store(self._dir, "changes")
        return self._changes(poll)

    async def _changes(self, poll: _requests.ChangePoll) -> AsyncIterator[None]:
        poll.has_changed(await self._call("generation", {}))
        poll.wait_anew()
        closing = asyncio.ensure_future(self._closed.wait())
        try:
            while (pause := poll.pause()) is not None:
                await asyncio.wait({closing}, timeout=pause)
                if closing.done():
                    return
                try:
                    has_changed = poll.has_changed(await self._call("generation", {}))
                except ToolcellError:
                    if self._closed.is_set():
                        return
                    raise
                if has_changed:
                    yield
                    poll.wait_anew()
        finally:
            closing.cancel()

    async def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        session = self._opened()
        _requests.check_has_store(self._dir, operation)
        wire = encode(request, f"the {operation} request")
        host, waiter = self._run_host({})

        def start(cancel: _native.Cancel, on_done: OnDone[str]) -> None:
            host.on_interrupt = cancel.cancel
            session.start_call(operation, wire, host, cancel, on_done)

        answer = await _Operation(waiter, start).end()
        host.raise_for_caller()
        return dict(json.loads(answer))

    def _opened(self) -> _native.Session:
        if self._session is None:
            raise RuntimeError("the toolbox is not open: use it in `async with`, or await its open()")
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("the toolbox was opened in another event loop: open one in each loop")
        return self._session
