"""What a call costs from Python, in turns with peers: `bench.py`, in an environment with `toolcell` and any of `modebox`,
`pydantic-monty` and `quickjs-rs`. Each call is from nothing: a fresh instance, which runs a tool that was prepared.
"""

import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from toolcell import Toolbox

TEXT = "hello"
CODE = "const execute = ({ text }) => text.split('').reverse().join('')"
CALLS = "const execute = async ({ n }) => { for (let i = 0; i < n; i++) await tools.call('nothing', {}); return n }"


@contextmanager
def toolcell(isolation: str) -> Iterator[Callable[[], object]]:
    with tempfile.TemporaryDirectory() as folder, Toolbox(folder, isolation=isolation) as box:
        box.create("reverse", "Reverses", CODE)
        yield lambda: box.run("reverse", {"text": TEXT}).value


@contextmanager
def modebox() -> Iterator[Callable[[], object]]:
    import asyncio

    import modebox

    runner = modebox.Runner()
    source = f"return {TEXT!r}.split('').reverse().join('')"
    with asyncio.Runner() as loop:
        yield lambda: loop.run(runner.run(source))


@contextmanager
def monty() -> Iterator[Callable[[], object]]:
    from pydantic_monty import Monty

    with Monty(min_processes=1, max_processes=1) as pool:

        def call() -> object:
            with pool.checkout() as session:
                return session.feed_run("text[::-1]", inputs={"text": TEXT})

        yield call


@contextmanager
def quickjs() -> Iterator[Callable[[], object]]:
    from quickjs_rs import Runtime

    with Runtime() as runtime:

        def call() -> object:
            with runtime.new_context() as context:
                return context.eval(f"{TEXT!r}.split('').reverse().join('')")

        yield call


def turns(calls: dict[str, Callable[[], object]], rounds: int = 20, each: int = 50) -> None:
    """Prints the median of each call; the calls take turns, so that a busy machine slows all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            for _ in range(each):
                began = time.perf_counter()
                call()
                times[name].append(time.perf_counter() - began)
    for name, taken in times.items():
        print(f"{name:<24} p50 {statistics.median(taken) * 1e6:9.1f} µs   p90 {statistics.quantiles(taken, n=10)[8] * 1e6:9.1f} µs")


def main() -> None:
    peers = {"modebox": ("modebox", modebox), "monty": ("pydantic_monty", monty), "quickjs-rs": ("quickjs_rs", quickjs)}
    ours = {"toolcell, process": lambda: toolcell("process"), "toolcell, worker": lambda: toolcell("worker")}
    there = {name: context for name, (module, context) in peers.items() if importlib.util.find_spec(module)}
    contexts, calls = [], {}
    for name, create in {**ours, **there}.items():
        context = create()
        try:
            call = context.__enter__()
            call()
        except Exception as error:
            print(f"{name}: left out: {type(error).__name__}: {error}")
            continue
        contexts.append(context)
        calls[name] = call
    turns(calls)
    for isolation in ("process", "worker"):
        with Toolbox(isolation=isolation) as box:
            functions = {"nothing": lambda: None}
            run = {n: lambda n=n: box.run_code(CALLS, {"n": n}, functions=functions) for n in (0, 100)}
            taken = {}
            for n, call in run.items():
                call()
                samples = []
                for _ in range(30):
                    began = time.perf_counter()
                    call()
                    samples.append(time.perf_counter() - began)
                taken[n] = statistics.median(samples)
            print(f"a function that does nothing, {isolation}: {(taken[100] - taken[0]) * 1e4:.1f} µs")
    times = []
    for _ in range(10):
        code = "import time; a = time.perf_counter(); import toolcell; print(time.perf_counter() - a)"
        times.append(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout))
    print(f"import toolcell: {statistics.median(times) * 1e3:.1f} ms")
    for context in contexts:
        context.__exit__(None, None, None)


main()
