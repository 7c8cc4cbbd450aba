"""What the tests of the package share."""

import os
import pathlib

import pytest

from toolcell import Toolbox

FIXTURES = pathlib.Path(__file__).parents[3] / "fixtures"

TWICE = "const execute = ({ n }) => 2 * n"
STEPS = """export default () => ({
  name: "steps",
  description: "Counts",
  parameters: { n: { type: "integer" } },
  async execute(id, { n }, onUpdate) {
    for (let i = 0; i < n; i++) onUpdate(i);
    return n;
  },
})"""
SPIN = "const execute = () => { for (;;) {} }"


@pytest.fixture(params=["process", "worker"])
def isolation(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def box(isolation, tmp_path):
    with Toolbox(tmp_path / "store", isolation=isolation) as box:
        yield box


def children() -> set[int]:
    """The processes that this one has started."""
    found = set()
    for entry in pathlib.Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if entry.name.isdigit() and int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(entry.name))
    return found
