"""Prefork servers, pools of processes and forks at any time: a toolbox belongs to the process that opened it."""

import asyncio
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from conftest import SPIN, TWICE
from processes import ROUNDS, children_of, descriptors, end_session, eventually, living, session_of

from toolcell import AsyncToolbox, Toolbox, ToolcellError

SERVER = pathlib.Path(__file__).parent / "prefork_server.py"


class Server:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        self.process = process
        self.port = int(process.stdout.readline())
        self.printed = ""

    def ask(self, n: int) -> dict[str, object]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/twice/{n}", timeout=60) as answer:
            return json.load(answer)

    def ask_all(self, workers: int) -> list[dict[str, object]]:
        """Asks many times at once, until that many workers have answered."""
        answers: list[dict[str, object]] = []
        with ThreadPoolExecutor(8) as pool:
            end = time.monotonic() + 60
            while len({answer["worker"] for answer in answers}) < workers:
                assert time.monotonic() < end
                answers += pool.map(self.ask, range(len(answers), len(answers) + 32))
        return answers

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.printed = self.process.communicate(timeout=60)[0].strip()


@contextmanager
def served(place: str, isolation: str, store: pathlib.Path) -> Iterator[Server]:
    with Toolbox(store, isolation="process") as box:
        box.create("twice", "Doubles", TWICE)
    command = [sys.executable, str(SERVER), place, isolation, str(store)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield Server(process)
    finally:
        end_session(process.pid)
        process.wait()


@pytest.mark.parametrize("place", ["worker", "both"])
def test_each_worker_of_a_prefork_server_opens_its_own_toolbox(isolation, place, tmp_path):
    with served(place, isolation, tmp_path / "store") as server:
        answers = server.ask_all(2)
        assert [answer.get("value") for answer in answers] == [2 * n for n in range(len(answers))]
        server.end()
        assert server.process.returncode == 0
        assert server.printed == ("42" if place == "both" else "")
        assert eventually(lambda: not session_of(server.process.pid))


def test_a_worker_that_is_killed_takes_its_processes_along_and_is_replaced(isolation, tmp_path):
    with served("both", isolation, tmp_path / "store") as server:
        killed = {int(str(answer["worker"])) for answer in server.ask_all(2)}
        of_killed = set[int]().union(*map(children_of, killed))
        assert bool(of_killed) == (isolation == "worker")
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        assert eventually(lambda: not living(killed | of_killed))
        answers = server.ask_all(2)
        assert [answer.get("value") for answer in answers] == [2 * n for n in range(len(answers))]
        assert killed.isdisjoint({answer["worker"] for answer in answers})
        server.end()
        assert (server.process.returncode, server.printed) == (0, "42")


def test_a_preloaded_toolbox_says_what_to_do_and_serves_its_master(isolation, tmp_path):
    with served("master", isolation, tmp_path / "store") as server:
        for answer in server.ask_all(2):
            assert answer["code"] == "toolbox-closed"
            assert answer["hint"] == "open a toolbox in each process, after the fork"
        server.end()
        assert (server.process.returncode, server.printed) == (0, "42")
        assert eventually(lambda: not session_of(server.process.pid))


def test_a_killed_master_takes_its_worker_processes_along_though_its_children_live(tmp_path):
    # The children hold the other end of the sockets, too.
    with served("both", "worker", tmp_path / "store") as server:
        of_master = children_of(server.process.pid)
        of_workers = {int(str(answer["worker"])) for answer in server.ask_all(2)}
        jailed = of_master - of_workers
        assert jailed
        server.process.kill()
        assert eventually(lambda: not living(jailed))
        assert living(of_workers) == of_workers


FORK = """
import os, sys, threading
from toolcell import Toolbox, ToolcellError

isolation, SPIN = sys.argv[1:]
ended = []
with Toolbox(isolation=isolation, slots=4) as box:

    def spin():
        try:
            box.run_code(SPIN, limits={"timeout": 300})
        except ToolcellError as error:
            ended.append(error.code)

    threads = [threading.Thread(target=spin) for _ in range(4)]
    for thread in threads:
        thread.start()
    # Until all of them are in their tools.
    threading.Event().wait(0.5)
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                box.run_code("const execute = () => 1")
            except ToolcellError as error:
                assert error.code == "toolbox-closed" and "after the fork" in error.hint
            box.close()
            with Toolbox(isolation=isolation, functions={"f": lambda: 5}) as own:
                assert own.run_code("const execute = () => tools.call('f', {})").value == 5
            # Past the threads of the parent, which this process has not.
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
for thread in threads:
    thread.join()
print(*ended)
"""


def test_a_fork_while_tools_run_leaves_parent_and_child_in_order(isolation):
    command = [sys.executable, "-c", FORK, isolation, SPIN]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.communicate(timeout=60)[0].split() == ["cancelled"] * 4
        assert eventually(lambda: not session_of(process.pid))
    finally:
        end_session(process.pid)


AT_FORK = """
import gc, os, sys, threading

isolation = sys.argv[1]
lock = threading.Lock()
in_child = []
# Those that are registered before the package is imported run last before a fork, and first after it.
os.register_at_fork(before=lambda: opened.close(), after_in_parent=lambda: run(box), after_in_child=lambda: in_child.append(opens()))
os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
from toolcell import Toolbox

CODE = "const execute = () => tools.call('f', {})"
functions = {"f": lambda: 5}
run = lambda box: box.run_code(CODE, functions=functions).value


def opens():
    with Toolbox(isolation=isolation) as own:
        return run(own)


opened = Toolbox(isolation=isolation)
over = threading.Event()
with Toolbox(isolation=isolation) as box:

    def work():
        while not over.is_set():
            with lock:
                assert run(box) == 5

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            os._exit(7 if in_child == [5] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    over.set()
    thread.join()
"""


def test_what_an_application_does_at_a_fork_may_use_toolboxes(isolation):
    command = [sys.executable, "-c", AT_FORK, isolation]
    subprocess.run(command, check=True, timeout=60)


def in_child(isolation: str, answers: "multiprocessing.Queue[object]") -> None:
    with Toolbox(isolation=isolation) as box:
        answers.put(box.run_code(TWICE, {"n": 5}).value)


def with_box_of_parent(box: Toolbox, answers: "multiprocessing.Queue[object]") -> None:
    try:
        answers.put(box.run_code(TWICE, {"n": 5}).value)
    except ToolcellError as error:
        answers.put((error.code, error.hint))


METHODS = ["spawn", "forkserver", "fork"]


@pytest.mark.parametrize("method", METHODS)
def test_children_of_multiprocessing_open_their_own(isolation, method):
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    with Toolbox(isolation=isolation) as box:
        box.run_code(TWICE, {"n": 1})
        child = context.Process(target=in_child, args=(isolation, answers))
        child.start()
        assert answers.get(timeout=60) == 10
        child.join(30)
        assert child.exitcode == 0
        assert box.run_code(TWICE, {"n": 3}).value == 6


@pytest.mark.parametrize("method", METHODS)
def test_a_toolbox_is_not_handed_to_a_child_of_multiprocessing(isolation, method):
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    with Toolbox(isolation=isolation) as box:
        child = context.Process(target=with_box_of_parent, args=(box, answers))
        if method == "fork":
            child.start()
            assert answers.get(timeout=60) == ("toolbox-closed", "open a toolbox in each process, after the fork")
            child.join(30)
            assert child.exitcode == 0
        else:
            with pytest.raises(TypeError, match="cannot pickle"):
                child.start()
        assert box.run_code(TWICE, {"n": 3}).value == 6


BOX: "list[Toolbox]" = []


def open_in_worker(isolation: str) -> None:
    BOX.append(Toolbox(isolation=isolation))


def twice_in_worker(n: int) -> tuple[int, object]:
    return os.getpid(), BOX[-1].run_code(TWICE, {"n": n}).value


@pytest.mark.parametrize("method", METHODS)
def test_a_pool_of_processes_opens_a_toolbox_in_each(isolation, method):
    context = multiprocessing.get_context(method)
    before = children_of(os.getpid())
    with Toolbox(isolation=isolation) as box, ProcessPoolExecutor(2, context, open_in_worker, (isolation,)) as pool:
        answers = list(pool.map(twice_in_worker, range(40)))
        assert [value for _, value in answers] == [2 * n for n in range(40)]
        assert os.getpid() not in {pid for pid, _ in answers}
        workers = {pid for pid, _ in answers}
        of_workers = set[int]().union(*map(children_of, workers))
        assert box.run_code(TWICE, {"n": 3}).value == 6
    # Its workers end without closing what they have opened.
    assert eventually(lambda: not living(workers | of_workers))
    # The forkserver stays, with what watches over the resources of all.
    assert method != "fork" or children_of(os.getpid()) == before


def test_an_event_loop_in_a_forked_child_opens_its_own(isolation):
    async def of_parent() -> None:
        async with AsyncToolbox(isolation=isolation) as box:
            assert (await box.run_code(TWICE, {"n": 1})).value == 2
            child = os.fork()
            if child == 0:
                # The loop of the parent is not for a child; a thread gets its own.
                answers: list[object] = []
                thread = threading.Thread(target=lambda: answers.append(asyncio.run(of_child())))
                thread.start()
                thread.join(60)
                os._exit(0 if answers == [4] else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert (await box.run_code(TWICE, {"n": 3})).value == 6

    async def of_child() -> object:
        async with AsyncToolbox(isolation=isolation) as own:
            return (await own.run_code(TWICE, {"n": 2})).value

    asyncio.run(of_parent())


def test_after_close_no_process_no_thread_and_no_file_is_left(isolation):
    def once() -> None:
        with Toolbox(isolation=isolation) as box:
            assert box.run_code(TWICE, {"n": 1}).value == 2

    # What the process has for all toolboxes, it has after the first one.
    once()
    before = descriptors(), children_of(os.getpid()), len(os.listdir("/proc/self/task"))
    for _ in range(max(20, ROUNDS // 10)):
        once()
    assert eventually(lambda: (descriptors(), children_of(os.getpid()), len(os.listdir("/proc/self/task"))) == before)


def test_a_worker_process_has_no_file_of_its_host(tmp_path):
    # A server's socket would stay open, and its port taken, for as long as a worker process lives.
    with open(tmp_path / "file", "w") as file:
        os.set_inheritable(file.fileno(), True)
        with Toolbox(isolation="worker") as box:
            before = children_of(os.getpid())
            box.run_code(TWICE, {"n": 1})
            assert before
            for worker in before:
                links = pathlib.Path(f"/proc/{worker}/fd").iterdir()
                assert str(tmp_path / "file") not in [os.readlink(link) for link in links]
