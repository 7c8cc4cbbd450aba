"""What the package offers by name, and what its import costs."""

import inspect
import subprocess
import sys

import toolcell
from toolcell import AsyncToolbox, Toolbox

# Partial results of an AsyncRun are read from it.
ITERATED = {"run", "run_code", "run_suspendable", "resume"}


def test_both_toolboxes_have_the_same_methods():
    def methods(kind):
        return {name: value for name, value in vars(kind).items() if not name.startswith("_") and callable(value)}

    blocking, waiting = methods(Toolbox), methods(AsyncToolbox)
    assert set(waiting) - set(blocking) == {"open"} and set(blocking) <= set(waiting)
    for name in (*blocking, "__init__"):
        here, there = (list(inspect.signature(getattr(kind, name)).parameters.values()) for kind in (Toolbox, AsyncToolbox))
        if name in ITERATED:
            here = [parameter for parameter in here if parameter.name != "on_update"]
        assert here == there, name


def test_each_name_is_there():
    for name in toolcell.__all__:
        assert getattr(toolcell, name) is not None and name in dir(toolcell)
    assert toolcell.__all__ == sorted(toolcell.__all__)
    everything = {}
    exec("from toolcell import *", everything)
    assert set(toolcell.__all__) <= set(everything)
    assert not hasattr(toolcell, "Nothing")


def test_who_only_runs_code_imports_little():
    code = """
import sys
before = set(sys.modules)
import toolcell
with toolcell.Toolbox(isolation="process") as box:
    assert box.run_code("const execute = () => 1").value == 1
print(sorted({"asyncio", "dataclasses", "html", "inspect", "logging", "pathlib"} & (set(sys.modules) - before)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
