"""Says which machines the wheel is for: it contains programs, which `.ci/packages` puts in place."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLATFORM = "manylinux_2_34_x86_64"


class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        package = Path(self.root) / "python" / "toolcell"
        for program in ("_native.abi3.so", "bin/toolcell-worker"):
            if not (package / program).exists():
                raise FileNotFoundError(f"{package / program} is missing: `make packages` builds it")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp310-abi3-{PLATFORM}"
