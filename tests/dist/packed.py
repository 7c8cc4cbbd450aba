"""What the tests of the artefacts share: where the artefacts are, and how a tool is had that a test needs.

TOOLCELL_DIST names the folder of a release. Without it, the binary that the other tests run is packed once; being built for tests, it
needs a C library, so there is an image of a stand-in only.
"""
import functools
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACK = REPOSITORY / ".ci/release/pack"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toolcell-ci"
ARCH = platform.machine()
DEBIAN_ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[ARCH]
OCI_ARCH = DEBIAN_ARCH
# Removed when the interpreter ends.
_temporary = tempfile.TemporaryDirectory(prefix="toolcell-dist-")
SCRATCH = Path(_temporary.name)


def run(*command, **options):
    """Runs a command, and returns its standard output. What it said goes into the error if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


@functools.cache
def need(program, package=None):
    """Installs a Debian package if its program is missing, and skips the test where that cannot be done."""
    if shutil.which(program):
        return
    package = package or program
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise unittest.SkipTest(f"{program} is missing, and only root on Debian can install {package}")
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in ([*apt, "update"], [*apt, "install", "--yes", "--no-install-recommends", package]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise unittest.SkipTest(f"{program} is missing, and {package} cannot be installed: {done.stderr.strip()[-300:]}")


def need_root():
    if os.geteuid() != 0:
        raise unittest.SkipTest("only root can enter another root")


@functools.cache
def version():
    text = (REPOSITORY / "Cargo.toml").read_text()
    return text.split("[workspace.package]")[1].split('version = "')[1].split('"')[0]


def pack(binary, out, arch=ARCH, **environment):
    """Packs, and returns what was said on standard error. Fast, for the sizes are not what these tests are about."""
    command = [PACK, binary, arch, out]
    done = subprocess.run(command, env=os.environ | {"PACK_LEVEL": "1"} | environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"pack ended with {done.returncode}: {done.stderr}")
    return done.stderr


@functools.cache
def release():
    """The folder with the artefacts, and whether it is a release."""
    if given := os.environ.get("TOOLCELL_DIST"):
        return Path(given).resolve(), True
    built = Path(os.environ.get("CARGO_TARGET_DIR") or CACHE) / "debug/toolcell"
    if not built.is_file():
        raise AssertionError(f"there is no {built}: cargo build --workspace --bins --locked, or TOOLCELL_DIST=FOLDER names a release")
    stripped = SCRATCH / "toolcell"
    run("strip", "-o", stripped, built)
    pack(stripped, SCRATCH / "dist")
    return SCRATCH / "dist", False


def artefact(name):
    folder, _ = release()
    path = folder / name
    if not path.is_file():
        raise AssertionError(f"{folder} has no {name}, but {sorted(os.listdir(folder))}")
    return path


def archive():
    return artefact(f"toolcell-{version()}-{ARCH}-linux.tar.gz")


@functools.cache
def prefix():
    """The archive, unpacked as its users do it."""
    into = SCRATCH / "prefix"
    into.mkdir()
    run("tar", "-xzf", archive(), "--strip-components=1", "-C", into)
    return into


def binary():
    return prefix() / "bin/toolcell"


@functools.cache
def stand_in():
    """A small static program, which stands for the binary where its contents do not matter."""
    source = SCRATCH / "stand-in.c"
    source.write_text("int main(void) { return 0; }\n")
    run(os.environ.get("CC", "cc"), "-static", "-s", "-o", SCRATCH / "stand-in", source)
    return SCRATCH / "stand-in"


@functools.cache
def stand_in_dist():
    out = SCRATCH / "stand-in dist"
    pack(stand_in(), out, TOOLCELL_NATIVE=str(binary()))
    return out


def unpack(tar, into):
    """Unpacks a tar with owners and modes, as root does, and refuses what leaves the folder."""
    with tarfile.open(tar) as opened:
        for entry in opened.getmembers():
            path = Path(entry.name)
            if path.is_absolute() or ".." in path.parts:
                raise AssertionError(f"{entry.name} leaves the folder")
    run("tar", "-xf", tar, "--same-owner", "--numeric-owner", "-p", "-C", into)
