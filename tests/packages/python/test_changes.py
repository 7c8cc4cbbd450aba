"""Changes of the tools: who waits for them is told."""

import asyncio
import signal
import threading
import time

import pytest
from conftest import TWICE

from toolcell import AsyncToolbox, Refused, Toolbox

NONE = "const execute = () => 1"


@pytest.fixture
def other(box, isolation, tmp_path):
    """Another toolbox on the same store."""
    with Toolbox(tmp_path / "store", isolation=isolation) as other:
        yield other


def soon(call, delay=0.3):
    timer = threading.Timer(delay, call)
    timer.start()
    return timer


def test_what_another_toolbox_changes_is_a_change(box, other):
    box.create("first", "Before", NONE)
    seen = []
    soon(lambda: other.create("twice", "Doubles", TWICE))
    for _ in box.changes(timeout=30):
        seen.append(sorted(tool.name for tool in box.list().tools))
        break
    assert seen == [["first", "twice"]]


def test_each_change_is_told_and_a_run_is_none(box, other):
    changes = box.changes(timeout=30)
    for change in (
        lambda: other.create("twice", "Doubles", TWICE),
        lambda: other.approve("twice"),
        lambda: other.delete("twice"),
    ):
        soon(change)
        next(changes)
    box.create("quiet", "Is run", NONE)
    next(changes)
    box.run("quiet")
    assert list(box.changes(timeout=0.2)) == []


def test_a_change_before_the_iteration_does_not_count(box):
    changes = box.changes(timeout=0.2)
    box.create("twice", "Doubles", TWICE)
    assert list(changes) == []


def test_it_ends_after_so_many_seconds_without_a_change(box, other):
    began = time.monotonic()
    assert list(box.changes(timeout=0.3)) == []
    assert 0.25 < time.monotonic() - began < 2
    soon(lambda: other.create("twice", "Doubles", TWICE), 0.1)
    assert list(box.changes(timeout=1.5)) == [None]


def test_it_ends_when_the_toolbox_is_closed(box):
    closing = soon(box.close)
    began = time.monotonic()
    assert list(box.changes()) == []
    assert time.monotonic() - began < 2
    closing.join()
    with pytest.raises(Refused) as closed:
        next(box.changes())
    assert closed.value.code == "toolbox-closed"


def test_ctrl_c_ends_it(box):
    thread = threading.main_thread().ident
    soon(lambda: signal.pthread_kill(thread, signal.SIGINT))
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(box.changes())
    assert time.monotonic() - began < 2


def test_in_an_event_loop(isolation, tmp_path):
    async def count(changes):
        seen = 0
        async for _ in changes:
            seen += 1
        return seen

    async def main():
        async with AsyncToolbox(tmp_path / "store", isolation=isolation) as box:
            began = time.monotonic()
            assert await count(box.changes(timeout=0.3)) == 0
            assert time.monotonic() - began < 2
            async with AsyncToolbox(tmp_path / "store", isolation=isolation) as other:
                task = asyncio.ensure_future(count(box.changes(timeout=1.5)))
                await asyncio.sleep(0.3)
                await other.create("twice", "Doubles", TWICE)
                assert await task == 1
            task = asyncio.ensure_future(count(box.changes()))
            await asyncio.sleep(0.3)
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - began < 1
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(count(box.changes()), 0.3)
            task = asyncio.ensure_future(count(box.changes()))
            await asyncio.sleep(0.3)
            await box.close()
            assert await asyncio.wait_for(task, 2) == 0
            assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_wrong_arguments_are_named(box, isolation):
    for timeout in (0, -1, "1", float("nan"), True):
        with pytest.raises(ValueError, match="timeout is .*, it must be a number of seconds above 0"):
            box.changes(timeout=timeout)
    with Toolbox(isolation=isolation) as without, pytest.raises(Refused, match="no store, which `changes` needs"):
        without.changes()
