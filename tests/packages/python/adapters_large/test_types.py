"""The types of the adapters whose frameworks are large."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "adapters"))

from agent_box import check_types


def test_the_adapters_and_a_use_of_them_are_typed(tmp_path):
    modules = ["toolcell.copilot", "toolcell.claude", "types_of_adapters_large"]
    check_types(modules, Path(__file__).parent, tmp_path)
