"""The process that the package lives in: signals, forks, threads."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading

import pytest
from conftest import FIXTURES, TWICE

from toolcell import Toolbox, ToolcellError

ROUNDS = int(os.environ.get("TOOLCELL_ROUNDS", "4"))
SEGFAULTS = ["memory-error-stacks.js", "serialise-proxy-own-keys-32-bit-overflow.js"]


def run_python(code: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("before", [True, False])
def test_tools_that_raise_signals_leave_faulthandler_and_the_host_alone(isolation, before):
    sources = [str(FIXTURES / "hostile" / name) for name in SEGFAULTS]
    out = run_python(
        f"""
        import faulthandler, pathlib, toolcell
        if {before}: faulthandler.enable()
        with toolcell.Toolbox(isolation={isolation!r}) as box:
            box.run_code("const execute = () => 1")
            faulthandler.enable()
            for source in {sources!r}:
                code = pathlib.Path(source).read_text()
                for _ in range({ROUNDS}):
                    try: box.run_code(code, limits={{"timeout": 5}})
                    except toolcell.ToolcellError: pass
            print(box.run_code("const execute = () => 'alive'").value)
        """
    )
    assert out.strip() == "alive"


def test_a_forked_child_is_told_to_open_its_own(isolation):
    with Toolbox(isolation=isolation) as box:
        assert box.run_code(TWICE, {"n": 1}).value == 2
        child = os.fork()
        if child == 0:
            try:
                box.run_code(TWICE, {"n": 1})
            except ToolcellError as error:
                said = error.code == "toolbox-closed" and "fork" in error.hint
            with Toolbox(isolation=isolation) as own:
                works = own.run_code(TWICE, {"n": 2}).value == 4
            os._exit(0 if said and works else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert box.run_code(TWICE, {"n": 3}).value == 6


def in_child(isolation: str, answers: "multiprocessing.Queue[int]") -> None:
    with Toolbox(isolation=isolation) as box:
        answers.put(box.run_code(TWICE, {"n": 5}).value)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_of_multiprocessing_work(isolation, method):
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    child = context.Process(target=in_child, args=(isolation, answers))
    child.start()
    assert answers.get(timeout=60) == 10
    child.join(30)
    assert child.exitcode == 0


def test_threads_share_a_toolbox(isolation):
    wrong = []
    with Toolbox(isolation=isolation) as box:

        def work() -> None:
            for n in range(ROUNDS):
                if box.run_code(TWICE, {"n": n}).value != 2 * n:
                    wrong.append(n)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_killed_host_leaves_no_worker(isolation, tmp_path):
    host = subprocess.Popen(
        [sys.executable, "-c", f"import toolcell, sys; box = toolcell.Toolbox(isolation={isolation!r}); box.run_code('const execute = () => 1'); print('open', flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert host.stdout is not None and host.stdout.readline() == b"open\n"
    workers = subprocess.run(["pgrep", "-P", str(host.pid)], capture_output=True, text=True, check=False).stdout.split()
    assert bool(workers) == (isolation == "worker")
    host.kill()
    host.wait()
    for _ in range(100):
        if not any(os.path.exists(f"/proc/{worker}") for worker in workers):
            return
        threading.Event().wait(0.02)
    pytest.fail(f"{workers} are left")


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
