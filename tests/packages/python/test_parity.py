"""The same tools give the same in Python as on the command line: identifiers, texts, values, fuel."""

import json
import os
import subprocess
import tomllib

import pytest
from conftest import FIXTURES

from toolcell import Toolbox, ToolcellError

TOOLCELL = os.environ["TOOLCELL_BINARY"]
TOOLS = sorted(path for path in (FIXTURES / "tools").iterdir() if path.suffix in (".js", ".ts") and not path.name.endswith(".d.ts"))


def compact(params: dict) -> str:
    """The JSON that the package sends: its length costs fuel."""
    return json.dumps(params, ensure_ascii=False, separators=(",", ":"))


def command(*words: str, folder: str) -> dict:
    done = subprocess.run(
        [TOOLCELL, "--dir", folder, "--no-project", *words], capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": folder},
    )
    return json.loads(done.stdout or done.stderr)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda path: path.stem)
def test_a_fixture_gives_the_same(tool, tmp_path):
    cases = tomllib.loads(tool.with_name(f"{tool.stem}.test.toml").read_text())["case"][:2]
    name, code, folder = tool.stem, tool.read_text(), str(tmp_path / "cli")
    (tmp_path / "cli").mkdir()
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"name": name, "description": "A fixture", "code": code}))
    stored = command("create", str(spec), "--json", folder=folder)
    there = [command("run", name, compact(case.get("params", {})), "--json", folder=folder) for case in cases]
    for isolation in ("process", "worker"):
        with Toolbox(tmp_path / isolation, isolation=isolation) as box:
            assert box.create(name, "A fixture", code).id == stored["id"]
            for case, expected in zip(cases, there, strict=True):
                try:
                    run = box.run(name, case.get("params", {}))
                    assert (run.value, run.fuel) == (expected.get("value"), expected["fuel"])
                except ToolcellError as error:
                    assert error.code == expected["error"]["code"]
