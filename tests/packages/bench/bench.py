"""What a call costs from Python, in turns with peers: `bench.py`, in an environment with `toolcell` and any of `modebox`,
`pydantic-monty` and `quickjs-rs`; `tests/packages/bench/run` installs them there (`make bench-packages`).

Invariant: each call is from nothing, in a fresh instance (process of a pool, runtime, context), with a source that was prepared where
the peer can do that; a peer that is not there, or fails, is left out and named.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from toolcell import Toolbox

TEXT = "hello"
EXPECTED = "olleh"
CODE = "const execute = ({ text }) => text.split('').reverse().join('')"
CALLS = "const execute = async ({ n }) => { for (let i = 0; i < n; i++) await tools.call('nothing', {}); return n }"

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "20"))
CALLS_IN_TURN = 50
# The functions that a run calls, compared with a run that calls none.
FUNCTION_CALLS = 100
# What the others are compared with: what the package does by default.
BASE = "toolcell, worker"


class Peer(NamedTuple):
    """What is measured: a call, and a run that calls a function of the host so often."""

    call: Callable[[], object]
    functions: Callable[[int], object]


@contextmanager
def toolcell(isolation: str) -> Iterator[Peer]:
    functions = {"nothing": lambda: None}
    with tempfile.TemporaryDirectory() as folder, Toolbox(folder, isolation=isolation) as box:
        box.create("reverse", "Reverses", CODE)
        yield Peer(
            lambda: box.run("reverse", {"text": TEXT}).value,
            lambda n: box.run_code(CALLS, {"n": n}, functions=functions).value,
        )


@contextmanager
def modebox() -> Iterator[Peer]:
    import asyncio

    import modebox

    runner = modebox.Runner()
    functions = {"nothing": lambda: None}
    with asyncio.Runner() as loop:
        yield Peer(
            lambda: loop.run(runner.run(f"{CODE}; return execute({{ text: {TEXT!r} }})")).value,
            lambda n: loop.run(
                runner.run(f"for (let i = 0; i < {n}; i++) await nothing(); return {n}", host_functions=functions)
            ).value,
        )


@contextmanager
def monty() -> Iterator[Peer]:
    from pydantic_monty import Monty

    with Monty(min_processes=1, max_processes=1) as pool:

        def feed(code: str, **options: object) -> object:
            with pool.checkout() as session:
                return session.feed_run(code, **options)

        yield Peer(
            lambda: feed("text[::-1]", inputs={"text": TEXT}),
            lambda n: feed("for _ in range(n):\n    nothing()\nn", inputs={"n": n}, external_lookup={"nothing": lambda: None}),
        )


@contextmanager
def quickjs() -> Iterator[Peer]:
    from quickjs_rs import Runtime

    with Runtime() as runtime:

        def call() -> object:
            with runtime.new_context() as context:
                return context.eval(f"{CODE}; execute({{ text: {TEXT!r} }})")

        def functions(n: int) -> object:
            with runtime.new_context() as context:
                context.register("nothing", lambda: None)
                return context.eval(f"for (let i = 0; i < {n}; i++) nothing(); {n}")

        yield Peer(call, functions)


PEERS = {
    "toolcell, process": lambda: toolcell("process"),
    "toolcell, worker": lambda: toolcell("worker"),
    "modebox": modebox,
    "pydantic-monty": monty,
    "quickjs-rs": quickjs,
}


def turn(call: Callable[[], object], count: int) -> float:
    """The median of calls one after the other, in seconds."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def measure(title: str, peers: dict[str, Peer], cost_of: Callable[[Peer], float]) -> None:
    """Measures in turns, so that a busy machine slows all of them, and prints medians and what they are of the base."""
    costs: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(ROUNDS):
        for name, peer in peers.items():
            costs[name].append(cost_of(peer))
    print(f"\n{title} (×: of {BASE})")
    for name, taken in costs.items():
        ratio = statistics.median(cost / base for cost, base in zip(taken, costs[BASE], strict=True))
        print(f"  {name:<24} p50 {statistics.median(taken) * 1e6:9.1f} µs {ratio:8.2f} ×")


def cost_of_function(peer: Peer) -> float:
    without = turn(lambda: peer.functions(0), 5)
    return (turn(lambda: peer.functions(FUNCTION_CALLS), 5) - without) / FUNCTION_CALLS


def main() -> None:
    with ExitStack() as stack:
        peers = {}
        for name, create in PEERS.items():
            try:
                peer = stack.enter_context(create())
                answers = (peer.call(), peer.functions(FUNCTION_CALLS))
                if answers != (EXPECTED, FUNCTION_CALLS):
                    raise ValueError(f"it answers {answers}")
                peers[name] = peer
            except Exception as error:
                print(f"{name}: left out: {type(error).__name__}: {error}")
        measure(f"a call from nothing, {ROUNDS} turns of {CALLS_IN_TURN}", peers, lambda peer: turn(peer.call, CALLS_IN_TURN))
        measure("a function that does nothing, called by a run", peers, cost_of_function)
    times = []
    for _ in range(10):
        code = "import time; a = time.perf_counter(); import toolcell; print(time.perf_counter() - a)"
        times.append(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout))
    print(f"\nimport toolcell: {statistics.median(times) * 1e3:.1f} ms")


main()
