"""The Debian package: by its form, by lintian, and installed into a Debian of its own and removed again."""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

import packed
from packed import REPOSITORY, run, version


def package():
    return packed.artefact(f"toolcell_{version()}_{packed.DEBIAN_ARCH}.deb")


class Form(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", package()], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            cls.entries = {entry.name: entry for entry in tar.getmembers()}
            cls.files = {entry.name[2:]: tar.extractfile(entry).read() for entry in tar.getmembers() if entry.isfile()}
        cls.field = staticmethod(lambda name: run("dpkg-deb", "--field", package(), name).rstrip("\n"))

    def test_the_control_file_says_what_it_is(self):
        self.assertEqual(self.field("Package"), "toolcell")
        self.assertEqual(self.field("Version"), version())
        self.assertEqual(self.field("Architecture"), packed.DEBIAN_ARCH)
        self.assertEqual(self.field("Section"), "utils")
        self.assertRegex(self.field("Maintainer"), r"^.+ <.+@.+>$")
        self.assertGreater(len(self.field("Description").splitlines()), 5)
        # As dpkg-gencontrol(1) counts.
        kib = sum(-(-len(content) // 1024) for content in self.files.values()) + sum(entry.isdir() for entry in self.entries.values()) - 1
        self.assertEqual(int(self.field("Installed-Size")), kib)

    def test_it_depends_on_what_the_binary_needs(self):
        symbols = subprocess.run(["objdump", "-T", packed.binary()], capture_output=True, text=True).stdout
        needed = sorted(re.findall(r"GLIBC_(2\.\d+)", symbols), key=lambda name: int(name.split(".")[1]))
        if needed:
            self.assertIn(f"libc6 (>= {needed[-1]})", self.field("Depends").split(", "))
            self.assertEqual("libgcc_s.so.1" in run("objdump", "-p", packed.binary()), "libgcc-s1" in self.field("Depends"))
        else:
            self.assertEqual(self.field("Depends"), "")

    def test_it_is_the_archive_where_debian_has_things(self):
        installed = dict(self.files)
        for file in sorted(path for path in packed.prefix().rglob("*") if path.is_file()):
            name = f"usr/{file.relative_to(packed.prefix())}".replace("zsh/site-functions", "zsh/vendor-completions")
            content = file.read_bytes()
            if name == "usr/share/doc/toolcell/LICENSE":
                continue
            if "/man/" in name or name.endswith("CHANGELOG.md"):
                self.assertEqual(gzip.decompress(installed.pop(f"{name}.gz")), content, name)
            else:
                self.assertEqual(installed.pop(name), content, name)
        # Where the binary is static, lintian is told why.
        installed.pop("usr/share/lintian/overrides/toolcell", None)
        self.assertEqual(sorted(installed), ["usr/share/doc/toolcell/changelog.gz", "usr/share/doc/toolcell/copyright"])
        self.assertTrue(gzip.decompress(installed["usr/share/doc/toolcell/changelog.gz"]).startswith(f"toolcell ({version()}) ".encode()))

    def test_owners_and_modes_are_fixed_and_nothing_runs_at_installation(self):
        for name, entry in self.entries.items():
            self.assertEqual((entry.uid, entry.gid, entry.uname), (0, 0, "root"), name)
            self.assertTrue(entry.isdir() or entry.isreg(), name)
            self.assertEqual(entry.mode & 0o7777, 0o755 if entry.isdir() or name == "./usr/bin/toolcell" else 0o644, name)
        control = subprocess.run(["dpkg-deb", "--ctrl-tarfile", package()], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(control)) as tar:
            self.assertEqual(sorted(tar.getnames()), [".", "./control", "./md5sums"])
            sums = tar.extractfile("./md5sums").read().decode()
        self.assertEqual(sums, "".join(f"{hashlib.md5(self.files[name]).hexdigest()}  {name}\n" for name in sorted(self.files)))

    def test_lintian_finds_nothing(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", package()], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Installed(unittest.TestCase):
    """In a Debian that has nothing but what every Debian has."""

    @classmethod
    def setUpClass(cls):
        packed.need_root()
        if not Path("/etc/debian_version").exists():
            raise unittest.SkipTest("a Debian root can be made on Debian only")
        release = dict(line.strip().split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
        if release.get("ID") != "debian":
            raise unittest.SkipTest("a Debian root can be made on Debian only: this is " + release.get("ID", "unknown"))
        kept = packed.CACHE / f"debian-root-{release['VERSION_CODENAME']}-{packed.DEBIAN_ARCH}.tar"
        if not kept.exists():
            packed.need("mmdebstrap")
            kept.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
                made = Path(folder, "root.tar")
                done = subprocess.run(
                    ["mmdebstrap", "--quiet", "--variant=essential", release["VERSION_CODENAME"], made],
                    capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                )
                if done.returncode != 0:
                    raise unittest.SkipTest(f"no Debian root can be made here: {done.stderr.strip()[-300:]}")
                made.rename(kept)
        cls.root = Path(tempfile.mkdtemp(prefix="debian-", dir=packed.SCRATCH))
        run("tar", "-xf", kept, "-C", cls.root, "--numeric-owner", "--exclude=./dev/*")
        shutil.copy(package(), cls.root / "toolcell.deb")
        shutil.copytree(REPOSITORY / "fixtures/tools", cls.root / "tools")

    def inside(self, *command, ended=0):
        done = subprocess.run(
            ["chroot", self.root, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
        )
        self.assertEqual(done.returncode, ended, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def files(self):
        """All that is there, but for dpkg's own books and what this test brought along."""
        found = {}
        for folder, folders, files in os.walk(self.root):
            for name in folders + files:
                path = Path(folder, name)
                relative = path.relative_to(self.root)
                if relative.parts[:3] != ("var", "lib", "dpkg") and relative != Path("var/log/dpkg.log"):
                    found[str(relative)] = (path.lstat().st_mode, path.lstat().st_size if path.is_file() else 0)
        return found

    def test_it_installs_works_and_leaves_nothing(self):
        for removal in ("--remove", "--purge"):
            before = self.files()
            started = time.monotonic()
            self.inside("dpkg", "--install", "/toolcell.deb")
            print(f"dpkg --install: {time.monotonic() - started:.2f} s (2 s are aimed for)", flush=True)
            self.assertEqual(self.inside("dpkg", "--verify", "toolcell"), "")
            self.assertEqual(self.inside("toolcell", "--version"), f"toolcell {version()}\n")
            said = self.inside("toolcell", "exec", "/tools/calculate_average.js", '{"numbers": [1.5, 2.5, 4.25]}')
            self.assertEqual(json.loads(said), 2.75)
            self.inside("dpkg", removal, "toolcell")
            self.assertEqual(self.files(), before)
            self.inside("sh", "-c", "toolcell --version", ended=127)
            listed = subprocess.run(["chroot", self.root, "dpkg-query", "-W", "toolcell"], capture_output=True, text=True)
            self.assertNotEqual(listed.returncode, 0, listed.stdout)

    def test_a_damaged_package_is_not_installed(self):
        whole = package().read_bytes()
        before = self.files()
        (self.root / "damaged.deb").write_bytes(whole[: len(whole) // 2])
        done = subprocess.run(["chroot", self.root, "dpkg", "--install", "/damaged.deb"], capture_output=True, text=True)
        (self.root / "damaged.deb").unlink()
        self.assertNotEqual(done.returncode, 0)
        after = self.files()
        self.assertEqual(after, before)


if __name__ == "__main__":
    unittest.main()
