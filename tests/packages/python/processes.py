"""Processes, descriptors and delays, as Linux shows them."""

import asyncio
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

ROUNDS = int(os.environ.get("TOOLCELL_ROUNDS", "4"))
TICK = 0.005


def processes() -> Iterator[tuple[int, int, int]]:
    """Each process that has not ended, with its parent and its session. One that ended is there until its parent asks."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            state, parent, _, session = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:4]
        except OSError:
            continue
        if entry.name.isdigit() and state != "Z":
            yield int(entry.name), int(parent), int(session)


def children_of(pid: int) -> set[int]:
    return {child for child, parent, _ in processes() if parent == pid}


def session_of(leader: int) -> set[int]:
    return {pid for pid, _, session in processes() if session == leader}


def end_session(leader: int) -> None:
    for pid in session_of(leader):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def living(pids: set[int]) -> set[int]:
    return pids & {pid for pid, _, _ in processes()}


def eventually(holds: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether something that the kernel, or another process, is about to do gets done."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def descriptors() -> list[str]:
    """What the open files of this process are, without the one that reads them."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}"))
        except FileNotFoundError:
            pass
    return sorted(found)


def caught_signals() -> int:
    """The signals with a handler in this process: a bit each. The C library has two of its own, above 31."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16) & 0x7FFFFFFF


def p99(delays: list[float]) -> float:
    return statistics.quantiles(delays, n=100)[98]


async def delays_of_loop(is_over: Callable[[], bool]) -> list[float]:
    """How much later than it asked for a task of this loop goes on, each time, in seconds."""
    delays = []
    while not is_over() or len(delays) < 2:
        began = time.perf_counter()
        await asyncio.sleep(TICK)
        delays.append(time.perf_counter() - began - TICK)
    return delays


CONTROL = f"""
import sys, threading, time
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
delays = []
print("measures", flush=True)
while not over.is_set() or len(delays) < 2:
    began = time.perf_counter()
    time.sleep({TICK})
    delays.append(time.perf_counter() - began - {TICK})
print(*delays)
"""


@contextmanager
def delays_of_machine() -> Iterator[list[float]]:
    """Such delays of another process, which only sleeps, meanwhile: those of the machine. Filled at the end."""
    delays: list[float] = []
    with subprocess.Popen([sys.executable, "-c", CONTROL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as control:
        assert control.stdout is not None
        control.stdout.readline()
        yield delays
        delays += map(float, control.communicate()[0].split())
