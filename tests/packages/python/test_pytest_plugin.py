"""The tests of tools under pytest: what `toolcell test` says, pytest says."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import FIXTURES, SPIN

pytest_plugins = ["pytester"]
TOOL = "const execute = ({ n }) => 2 * n"


def write(pytester, name, source, tests):
    pytester.makefile(".js", **{name: source})
    (pytester.path / f"{name}.test.toml").write_text(tests)


def case(name, params, expected, more=""):
    return f'[[case]]\nname = "{name}"\nparams = {params}\n{expected}\n{more}\n'


def test_the_fixtures_pass_with_the_fuel_of_the_command_line(pytester):
    for name in ("calculate_average", "word_count"):
        for path in sorted((FIXTURES / "tools").glob(f"{name}*")):
            shutil.copy(path, pytester.path)
    files = sorted(path.name for path in pytester.path.glob("*.test.toml"))
    assert files
    done = pytester.runpytest_subprocess("--junitxml=report.xml", *files)
    assert done.ret == 0, done.stdout.str()
    command = [os.environ["TOOLCELL_BINARY"], "test", "--json", *files]
    report = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=pytester.path).stdout)
    done.assert_outcomes(passed=len(report["tests"]))
    xml = (pytester.path / "report.xml").read_text()
    for one in report["tests"]:
        assert f'<property name="fuel" value="{one["fuel"]}" />' in xml
        assert f'<property name="loadFuel" value="{one["loadFuel"]}" />' in xml


def test_a_case_fails_with_what_the_command_line_says(pytester):
    write(pytester, "twice", TOOL, case("two", "{ n = 2 }", "returns = 5") + case("three", "{ n = 3 }", "returns = 6"))
    done = pytester.runpytest_subprocess("twice.test.toml")
    done.assert_outcomes(passed=1, failed=1)
    text = done.stdout.str()
    assert "twice.test.toml:1" in text and "it returns 4, expected 5" in text and "+ 4" in text and "Traceback" not in text
    pytester.runpytest_subprocess("-k", "three").assert_outcomes(passed=1, deselected=1)
    pytester.runpytest_subprocess("twice.test.toml::three").assert_outcomes(passed=1)


def test_budgets_hold_and_can_be_ignored(pytester):
    model = json.loads(
        subprocess.run([os.environ["TOOLCELL_BINARY"], "test", "--json", FIXTURES / "tools/calculate_average.test.toml"], capture_output=True, check=True).stdout
    )["model"]
    budget = f'[budget]\nmodel = "{model}"\n'
    write(pytester, "twice", TOOL, budget + case("two", "{ n = 2 }", "returns = 4", "fuel = 10\nmeasured = 9"))
    failed = pytester.runpytest_subprocess("twice.test.toml")
    failed.assert_outcomes(failed=1)
    assert "fuel" in failed.stdout.str()
    pytester.runpytest_subprocess("--toolcell-no-budgets").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("--toolcell-max-regression", "5%").assert_outcomes(failed=1)
    write(pytester, "twice", TOOL, budget.replace(model, "another") + case("two", "{ n = 2 }", "returns = 4", "fuel = 10"))
    assert pytester.runpytest_subprocess("twice.test.toml").ret == 2


def test_an_invalid_file_is_an_error_of_the_collection_with_its_places(pytester):
    write(pytester, "twice", TOOL, case("two", "{ n = 2 }", "retruns = 4"))
    done = pytester.runpytest_subprocess("twice.test.toml")
    assert done.ret == 2
    assert "twice.test.toml:4:1" in done.stdout.str() and "hint:" in done.stdout.str()
    (pytester.path / "pytest.ini").write_text("[pytest]\ntoolcell = false\n")
    assert pytester.runpytest_subprocess().ret == 5


def test_a_toolbox_for_each_test(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def toolcell_policy():
            return '[approval]\\nmode = "ask"\\n'

        def test_it_asks(toolbox):
            toolbox.create("twice", "Doubles", "const execute = ({ n }) => 2 * n")
            assert toolbox.questions("run_dynamic_tool", {"tool_name": "twice", "parameters": {"n": 1}})

        def test_it_is_empty(toolbox):
            assert toolbox.list().total == 0
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_without_tests_of_tools_nothing_of_toolcell_is_loaded(pytester):
    pytester.makepyfile("import sys\n\ndef test_it():\n    assert 'toolcell._native' not in sys.modules\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_an_interrupt_ends_a_case(pytester):
    write(pytester, "spin", SPIN, case("spins", "{}", 'stops = "timeout"', 'time = "60 s"'))
    process = subprocess.Popen([sys.executable, "-m", "pytest", "spin.test.toml"], stdout=subprocess.PIPE, text=True)
    time.sleep(4)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=30)[0]
    assert process.returncode == pytest.ExitCode.INTERRUPTED and "KeyboardInterrupt" in output
    assert time.monotonic() - began < 10
