"""The process that the package lives in: signals, threads, the event loop, the end. For forks there is `test_servers.py`."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import FIXTURES, TWICE
from processes import ROUNDS, caught_signals, children_of, delays_of_loop, delays_of_machine, eventually, living, p99

from toolcell import AsyncToolbox, Toolbox

# They raised SIGSEGV in versions of the engine that were.
SEGFAULTS = ["memory-error-stacks.js", "serialise-proxy-own-keys-32-bit-overflow.js"]


def run_python(code: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=600 + 10 * ROUNDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("before", [True, False])
def test_what_once_raised_signals_leaves_faulthandler_and_the_host_alone(isolation, before):
    sources = [str(FIXTURES / "hostile" / name) for name in SEGFAULTS]
    began = time.monotonic()
    out = run_python(
        f"""
        import collections, faulthandler, pathlib, toolcell
        if {before}: faulthandler.enable()
        codes = collections.Counter()
        with toolcell.Toolbox(isolation={isolation!r}) as box:
            box.run_code("const execute = () => 1")
            faulthandler.enable()
            for source in {sources!r}:
                code = pathlib.Path(source).read_text()
                for _ in range({ROUNDS}):
                    try: box.run_code(code, limits={{"timeout": 60, "memory_mb": 24}})
                    except toolcell.ToolcellError as error: codes[error.code] += 1
            print(dict(codes), box.run_code("const execute = () => 'alive'").value)
        """
    )
    assert out.strip() == f"{{'out-of-memory': {ROUNDS}, 'tool-failed': {ROUNDS}}} alive"
    print(f"{isolation}, faulthandler before: {before}: {2 * ROUNDS} hostile runs in {time.monotonic() - began:.0f} s")


def test_no_handler_of_a_signal_is_installed(isolation):
    before = caught_signals()
    with Toolbox(isolation=isolation) as box:
        assert box.run_code(TWICE, {"n": 1}).value == 2
        assert caught_signals() == before
    assert caught_signals() == before


def test_a_worker_process_that_a_signal_ends_is_replaced():
    # The worst that a tool could do to its worker process.
    others = children_of(os.getpid())
    with Toolbox(isolation="worker") as box:
        for ends in [signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGKILL]:
            assert box.run_code(TWICE, {"n": 1}).value == 2
            workers = children_of(os.getpid()) - others
            assert workers
            for worker in workers:
                os.kill(worker, ends)
            assert eventually(lambda killed=workers: not living(killed))
            # An idle worker that is gone costs no run.
            assert box.run_code(TWICE, {"n": 2}).value == 4


# A short run has few samples.
RUNS = max(ROUNDS, 50)
WORK = "const execute = ({ n }) => { let s = 0; for (let i = 0; i < 1e4; i++) s += i; return n }"


def goes_on(what: str, work: Callable[[], Awaitable[None]]) -> None:
    """The event loop goes on meanwhile: half of the time it is 20 ms later than one with nothing to do, at most."""

    async def main() -> list[float]:
        working = asyncio.ensure_future(work())
        delays = await delays_of_loop(working.done)
        await working
        return delays

    with delays_of_machine() as machine:
        began = time.monotonic()
        delays = asyncio.run(main())
        seconds = time.monotonic() - began
    late, idle = sorted(delays)[len(delays) // 2] * 1e3, p99(machine) * 1e3
    print(f"{what} of {RUNS} runs, {seconds:.1f} s: event loop late by p50 {late:.1f} ms, p99 {p99(delays) * 1e3:.1f} ms;", end=" ")
    print(f"an idle process p99 {idle:.1f} ms")
    assert late < 20 + idle


@pytest.mark.parametrize("slots", [None, len(os.sched_getaffinity(0))])
def test_the_event_loop_goes_on_while_8_threads_run_tools(isolation, slots):
    with Toolbox(isolation=isolation, slots=slots) as box, ThreadPoolExecutor(8) as pool:

        def runs() -> list[object]:
            return [box.run_code(WORK, {"n": n}).value for n in range(RUNS)]

        async def work() -> None:
            loop = asyncio.get_running_loop()
            answers = await asyncio.gather(*[loop.run_in_executor(pool, runs) for _ in range(8)])
            assert answers == [list(range(RUNS))] * 8

        goes_on(f"{isolation}, {slots or 'the usual'} at once: 8 threads", work)


def test_the_event_loop_goes_on_while_8_tasks_run_tools(isolation):
    async def runs(box: AsyncToolbox) -> list[object]:
        return [(await box.run_code(WORK, {"n": n})).value for n in range(RUNS)]

    async def work() -> None:
        async with AsyncToolbox(isolation=isolation) as box:
            assert await asyncio.gather(*[runs(box) for _ in range(8)]) == [list(range(RUNS))] * 8

    goes_on(f"{isolation}: 8 tasks", work)


def test_a_killed_host_leaves_no_worker(isolation, tmp_path):
    host = subprocess.Popen(
        [sys.executable, "-c", f"import toolcell, sys; box = toolcell.Toolbox(isolation={isolation!r}); box.run_code('const execute = () => 1'); print('open', flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert host.stdout is not None and host.stdout.readline() == b"open\n"
    workers = children_of(host.pid)
    assert bool(workers) == (isolation == "worker")
    host.kill()
    host.wait()
    assert eventually(lambda: not living(workers)), f"{workers} are left"


def test_the_interpreter_ends_while_threads_call_back():
    code = """
        import asyncio, toolcell
        async def main():
            async with toolcell.AsyncToolbox(isolation="process") as box:
                await asyncio.gather(*[box.run_code("const execute = () => tools.call('f', {})", functions={"f": lambda: 1}) for _ in range(8)])
        asyncio.run(main())
        box = toolcell.Toolbox(isolation="process")
        print("end")
        """
    for _ in range(12):
        assert run_python(code) == "end\n"
