"""Forks at any moment, of a process whose threads run tools.

A child has the locks of its parent as they were at the fork, and no thread that will release them: what takes one there waits
forever. How often that happens is a matter of chance, so that many forks have to show it; and many new processes, because
much is done once in each.
"""

import subprocess
import sys

import pytest
from processes import ROUNDS, end_session, eventually, session_of

FORKS = """
import asyncio, os, sys, threading, time
from toolcell import AsyncToolbox, Toolbox, ToolcellError

api, isolation, forks = sys.argv[1], sys.argv[2], int(sys.argv[3])
CODE = "const execute = async ({ n }) => n * await tools.call('f', {})"
over = threading.Event()
hung, wrong = [], []


async def tasks(box):
    async def runs():
        while not over.is_set():
            if (await box.run_code(CODE, {"n": 3}, functions={"f": four})).value != 12:
                wrong.append("run")

    async def four():
        return 4

    async with box:
        await asyncio.gather(*[runs() for _ in range(4)])


def runs(box):
    while not over.is_set():
        if box.run_code(CODE, {"n": 3}, functions={"f": lambda: 4}).value != 12:
            wrong.append("run")


async def in_child_task():
    async def five():
        return 5

    async with AsyncToolbox(isolation=isolation) as own:
        return (await own.run_code(CODE, {"n": 2}, functions={"f": five})).value


def in_child(box):
    if api == "tasks":
        return asyncio.run(in_child_task())
    try:
        box.run_code(CODE, {"n": 1}, functions={"f": lambda: 1})
    except ToolcellError as error:
        assert error.code == "toolbox-closed" and "after the fork" in error.hint
    box.close()
    with Toolbox(isolation=isolation) as own:
        return own.run_code(CODE, {"n": 2}, functions={"f": lambda: 5}).value


if api == "tasks":
    box = AsyncToolbox(isolation=isolation)
    threads = [threading.Thread(target=lambda: asyncio.run(tasks(box)))]
else:
    box = Toolbox(isolation=isolation)
    threads = [threading.Thread(target=runs, args=(box,)) for _ in range(4)]
for thread in threads:
    thread.start()
for fork in range(forks):
    child = os.fork()
    if child == 0:
        sys.exit(7 if in_child(box) == 10 else 1)
    end = time.monotonic() + 10
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            hung.append(fork)
            os.kill(child, 9)
            end += 1e9
        time.sleep(0.002)
    if os.waitstatus_to_exitcode(status) != 7 and fork not in hung:
        wrong.append(os.waitstatus_to_exitcode(status))
over.set()
for thread in threads:
    thread.join()
if api == "threads":
    box.close()
print(f"{len(hung)} hung, {len(wrong)} wrong, of {forks} forks")
"""


FORKS_OF_PROCESS = 4


@pytest.mark.parametrize("api", ["threads", "tasks"])
def test_a_child_that_is_forked_at_any_moment_opens_its_own(isolation, api):
    for forks in [FORKS_OF_PROCESS] * max(2, ROUNDS // 20) + [ROUNDS]:
        process = subprocess.Popen(
            [sys.executable, "-c", FORKS, api, isolation, str(forks)], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            said = process.communicate(timeout=600 + 10 * forks)[0].strip()
            assert said == f"0 hung, 0 wrong, of {forks} forks"
            assert eventually(lambda session=process.pid: not session_of(session))
        finally:
            end_session(process.pid)
