"""Runs the tests of tools (``*.test.toml``) under pytest.

Each case of a file is a test: ``pytest tools -k "an average"``. What fails ``toolcell test`` fails it: the value, the
effects, the logs, and the budgets of fuel, memory and time. The fixture ``toolbox`` has a store of its own, under the
policy of the fixture ``toolcell_policy``, which a project overrides.

It is a package of its own, because pytest imports it in each run: nothing of Toolcell is loaded before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from toolcell import Toolbox

_SUFFIX = ".test.toml"
_TOOLBOX: pytest.StashKey[Toolbox] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("toolcell", "tests of tools")
    group.addoption("--toolcell-no-budgets", action="store_true", help="ignore the budgets of tools")
    group.addoption(
        "--toolcell-max-regression",
        metavar="PERCENT",
        help="fail tests that use so much more fuel than when their budget was written, instead of checking the budget",
    )
    parser.addini("toolcell", "collect the tests of tools (*.test.toml)", type="bool", default=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ToolTests | None:
    if not file_path.name.endswith(_SUFFIX) or not parent.config.getini("toolcell"):
        return None
    tests: ToolTests = ToolTests.from_parent(parent, path=file_path)
    return tests


def pytest_unconfigure(config: pytest.Config) -> None:
    if (toolbox := config.stash.get(_TOOLBOX, None)) is not None:
        toolbox.close()


def _call(config: pytest.Config, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Calls the toolbox of this process, which loads each tool once."""
    if _TOOLBOX not in config.stash:
        from toolcell import Toolbox

        config.stash[_TOOLBOX] = Toolbox(isolation="process")
    return config.stash[_TOOLBOX]._call(operation, {**request, "noBudgets": config.option.toolcell_no_budgets})


class ToolTests(pytest.File):
    """A test file."""

    def collect(self) -> Iterable[ToolCase]:
        found = _call(self.config, "find_tests", {"paths": [str(self.path)]})
        if found["problems"]:
            raise self.CollectError("\n".join(map(_problem, found["problems"])))
        for case in found["tests"]:
            yield ToolCase.from_parent(self, name=case["name"], line=case["line"])


class ToolCase(pytest.Item):
    """A case of a test file."""

    def __init__(self, *, line: int, **options: Any) -> None:
        super().__init__(**options)
        self._line = line

    def runtest(self) -> None:
        request = {"path": str(self.path), "name": self.name, "maxRegression": self.config.option.toolcell_max_regression}
        report = _call(self.config, "run_test", request)
        if report["problems"]:
            raise ToolCaseFailed("\n".join(map(_problem, report["problems"])))
        (done,) = report["tests"]
        for name in ("fuel", "loadFuel", "memoryBytes"):
            self.user_properties.append((name, done[name]))
        if not done["passed"]:
            raise ToolCaseFailed("\n".join(map(_failure, done["failures"])))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, ToolCaseFailed):
            return f"{self.path}:{self._line}\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self._line - 1, self.name


class ToolCaseFailed(Exception):
    """A case failed: what ``toolcell test`` says about it."""


def _problem(problem: dict[str, Any]) -> str:
    return f"{problem['path']}:{problem['line']}:{problem['column']}: {problem['message']}\nhint: {problem['hint']}"


def _failure(failure: dict[str, Any]) -> str:
    return "\n".join(str(failure[key]) for key in ("message", "diff") if key in failure)


@pytest.fixture
def toolcell_policy() -> str | Path | None:
    """The policy of the fixture ``toolbox``: TOML, a path, or the built-in policy."""
    return None


@pytest.fixture
def toolbox(tmp_path: Path, toolcell_policy: str | Path | None) -> Iterator[Toolbox]:
    """A toolbox with an empty store, which ends with the test."""
    from toolcell import Toolbox

    with Toolbox(tmp_path / "tools", policy=toolcell_policy) as box:
        yield box
