"""What an adapter says without its framework, and its types."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from agent_box import check_types

ADAPTERS = {
    "langchain": "langchain_core",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "copilot": "copilot",
    "claude": "claude_agent_sdk",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_without_its_framework_says_what_to_install(adapter):
    extra = adapter.replace("_", "-")
    code = f"import sys; sys.modules[{ADAPTERS[adapter]!r}] = None; import toolcell.{adapter}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and f"ImportError: toolcell.{adapter} needs" in done.stderr
    assert f"pip install 'toolcell[{extra}]'" in done.stderr
    assert extra in metadata.metadata("toolcell").get_all("Provides-Extra")


def test_the_package_imports_no_framework():
    frameworks = {*ADAPTERS.values(), "pydantic", "langgraph", "mcp"}
    code = f"import sys, toolcell; print(sorted({frameworks} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_the_adapters_and_a_use_of_them_are_typed(tmp_path):
    modules = ["toolcell.langchain", "toolcell.openai_agents", "toolcell.pydantic_ai", "types_of_adapters"]
    check_types(modules, Path(__file__).parent, tmp_path)
