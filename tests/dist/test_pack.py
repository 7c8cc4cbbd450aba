"""The archive, and what makes it: `.ci/release/pack`."""
import json
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

import packed
from packed import ARCH, REPOSITORY, run, version


class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tarfile.open(packed.archive()) as archive:
            cls.entries = archive.getmembers()

    def test_it_has_these_files_and_no_other(self):
        pages = set(os.listdir(self.manual()))
        self.assertGreater(len(pages), 40)
        top = f"toolcell-{version()}-{ARCH}-linux"
        expected = {f"{top}/share/man/man1/{page}" for page in pages} | {
            f"{top}/{file}"
            for file in (
                "bin/toolcell",
                "share/bash-completion/completions/toolcell",
                "share/zsh/site-functions/_toolcell",
                "share/fish/vendor_completions.d/toolcell.fish",
                "share/doc/toolcell/LICENSE",
                "share/doc/toolcell/THIRD-PARTY-LICENSES",
                "share/doc/toolcell/README.md",
                "share/doc/toolcell/CHANGELOG.md",
            )
        }
        self.assertEqual({entry.name for entry in self.entries if entry.isfile()}, expected)
        folders = {str(parent) for file in expected for parent in Path(file).parents if parent.name}
        self.assertEqual({entry.name for entry in self.entries if not entry.isfile()}, folders)

    def manual(self):
        folder = packed.SCRATCH / "manual"
        if not folder.exists():
            run(packed.binary(), "man", folder)
        return folder

    def test_owners_modes_and_times_are_fixed(self):
        for entry in self.entries:
            self.assertEqual((entry.uid, entry.gid, entry.uname, entry.gname), (0, 0, "", ""), entry.name)
            self.assertEqual(entry.mode, 0o755 if entry.isdir() or entry.name.endswith("/bin/toolcell") else 0o644, entry.name)
            self.assertTrue(entry.isdir() or entry.isreg(), f"{entry.name} is neither a file nor a folder")
        self.assertEqual(len({entry.mtime for entry in self.entries}), 1)
        names = [entry.name for entry in self.entries]
        self.assertEqual(names, sorted(names))

    def test_gzip_keeps_neither_a_name_nor_a_time(self):
        header = packed.archive().read_bytes()[:10]
        self.assertEqual((header[3], header[4:8]), (0, bytes(4)))

    def test_unpacked_into_a_prefix_it_runs(self):
        self.assertEqual(run(packed.binary(), "--version", env={}), f"toolcell {version()}\n")
        tool = REPOSITORY / "fixtures/tools/calculate_average.js"
        self.assertEqual(run(packed.binary(), "exec", tool, '{"numbers": [1.5, 2.5, 4.25]}', env={}), "2.75\n")

    def test_the_manual_is_that_of_the_binary_and_parses(self):
        made, installed = self.manual(), packed.prefix() / "share/man/man1"
        for page in sorted(os.listdir(made)):
            self.assertEqual((installed / page).read_bytes(), (made / page).read_bytes(), page)
        pages = sorted(installed.iterdir())
        if shutil.which("man"):
            for page in pages:
                done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
                self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
                self.assertIn("toolcell", done.stdout, page.name)
            self.assertEqual(run("man", "-M", packed.prefix() / "share/man", "-w", "toolcell").strip(), str(installed / "toolcell.1"))
        packed.need("mandoc")
        run("mandoc", "-T", "lint", "-W", "error", *pages)

    def test_completions_load_and_complete(self):
        share = packed.prefix() / "share"
        bash = share / "bash-completion/completions/toolcell"
        run("bash", "-n", bash)
        # As bash asks: the words of the line, which of them it is about, and the function that `complete -p` names.
        ask = """
            source "$1"
            function=$(complete -p toolcell | sed -n 's/.* -F \\([^ ]*\\) .*/\\1/p')
            COMP_WORDS=(toolcell veri) COMP_CWORD=1 COMP_LINE="toolcell veri" COMP_POINT=13 COMP_TYPE=9
            "$function" toolcell veri toolcell
            printf '%s\\n' "${COMPREPLY[@]}"
        """
        path = f"{packed.prefix() / 'bin'}:/usr/bin:/bin"
        self.assertEqual(run("bash", "--norc", "-c", ask, "bash", bash, env={"PATH": path}).split(), ["verify"])
        for shell, file in (("zsh", share / "zsh/site-functions/_toolcell"), ("fish", share / "fish/vendor_completions.d/toolcell.fish")):
            self.assertIn("toolcell", file.read_text())
            if shutil.which(shell):
                run(shell, "-n", file)

    def test_a_release_is_as_small_as_it_has_to_be(self):
        folder, is_release = packed.release()
        if not is_release:
            self.skipTest("what the tests run is larger than a release: TOOLCELL_DIST names none")
        self.assertLessEqual(packed.binary().stat().st_size, 30 << 20)
        self.assertLessEqual((folder / f"toolcell-{version()}-{ARCH}-oci.tar").stat().st_size, 32 << 20)


class Licences(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = (packed.prefix() / "share/doc/toolcell/THIRD-PARTY-LICENSES").read_text()
        cls.index, *cls.texts = cls.text.split(f"\n{'=' * 100}\n")

    def test_every_linked_crate_is_named_and_has_a_text(self):
        heads = "\n".join(self.texts[0::2])
        linked = set()
        for manifest, package, target, where in (
            ("Cargo.toml", "toolcell-cli", f"{ARCH}-unknown-linux-gnu", ""),
            ("guest/Cargo.toml", "toolcell-guest", "wasm32-wasip1", " (of the guest)"),
        ):
            options = ["--locked", "--manifest-path", manifest, "--package", package, "--target", target, "--edges", "normal"]
            for line in run("cargo", "tree", *options, "--prefix", "none", "--format", "{p}", cwd=REPOSITORY).splitlines():
                # What has a path is ours.
                if match := re.fullmatch(r"(\S+) v(\S+)(?: \(proc-macro\))?(?: \(\*\))?", line):
                    linked.add((*match.groups(), where))
        self.assertGreater(len(linked), 400)
        self.assertIn("wasmtime", {name for name, _, _ in linked})
        for name, crate_version, where in sorted(linked):
            self.assertIn(f"\n{name} {crate_version}: ", self.index)
            self.assertRegex(heads, rf"(?m)^{re.escape(f'{name} {crate_version}{where}')}( \(|$)")

    def test_every_component_of_the_list_of_contents_is_named(self):
        folder, _ = packed.release()
        contents = folder / f"toolcell-{version()}-{ARCH}-linux.cdx.json"
        if not contents.exists():
            self.skipTest("only a release has a list of contents (SBOM): TOOLCELL_DIST names none")
        components = json.loads(contents.read_text())["components"]
        self.assertGreater(len(components), 400)
        for component in components:
            if not component["name"].startswith("toolcell"):
                self.assertIn(f"\n{component['name']} {component['version']}: ", self.index)

    def test_what_is_no_crate_is_named_with_its_text(self):
        for work, words in {
            "Rust's standard library": "Copyright notices for The Rust Standard Library|dual-licensed under Apache 2.0 and MIT",
            "SQLite": "The author disclaims copyright to this source code",
            "rquickjs-sys/quickjs": "2017-20\\d\\d Fabrice Bellard",
            "zstd-sys/zstd": "Meta Platforms|Facebook",
            "wasi-libc": "cloudlibc",
            "compiler-rt": "LLVM Exceptions to the Apache 2.0 License",
            "@oh-my-pi/omptype": "Stencil Labs",
            "core-js-pure": "Denis Pushkarev",
        }.items():
            self.assertIn(f"\n{work} ", self.index)
            texts = [text for head, text in zip(self.texts[0::2], self.texts[1::2]) if re.search(rf"(?m)^{re.escape(work)} ", head)]
            self.assertTrue(any(re.search(words, text) for text in texts), work)

    def test_each_text_is_there_once_and_no_licence_is_the_gpl(self):
        words = [" ".join(text.split()) for text in self.texts[1::2]]
        self.assertGreater(len(words), 100)
        self.assertEqual(len(words), len(set(words)))
        self.assertFalse([text[:80] for text in words if text.startswith("GNU GENERAL PUBLIC LICENSE")])
        self.assertTrue(all(words))

    def fails_with(self, change):
        """The script's message, with a cargo that says something else of one crate."""
        with tempfile.TemporaryDirectory(dir=packed.SCRATCH) as folder:
            wrapper = Path(folder, "cargo")
            wrapper.write_text(
                "#!/usr/bin/env python3\n"
                "import json, subprocess, sys\n"
                f"said = subprocess.run([{shutil.which('cargo')!r}, *sys.argv[1:]], stdout=subprocess.PIPE, check=True).stdout\n"
                "if sys.argv[1] == 'metadata':\n"
                "    found = json.loads(said)\n"
                "    for crate in found['packages']:\n"
                f"        {change}\n"
                "    said = json.dumps(found).encode()\n"
                "sys.stdout.buffer.write(said)\n"
            )
            wrapper.chmod(0o755)
            done = subprocess.run(
                [REPOSITORY / ".ci/release/licenses", f"{ARCH}-unknown-linux-gnu"],
                env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}, capture_output=True, text=True,
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            return done.stderr

    def test_a_crate_without_a_licence_fails(self):
        said = self.fails_with("if crate['name'] == 'governor': crate['license'] = None")
        self.assertIn("governor 0.10", said)
        self.assertIn("has no licence", said)

    def test_a_crate_without_a_text_that_can_be_had_fails(self):
        said = self.fails_with("if crate['name'] == 'governor': crate['license'] = '(Foo-1.0 OR MIT OR Bar-2.0) AND Baz-3.0'")
        self.assertIn("governor 0.10", said)
        self.assertIn("put the text into", said)


class Pack(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=packed.SCRATCH))
        self.native = str(packed.binary())

    def names(self, folder):
        return sorted(os.listdir(folder))

    def refused(self, binary, arch=ARCH, **environment):
        out = self.folder / "out"
        done = subprocess.run([packed.PACK, binary, arch, out], env=os.environ | environment, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(out.exists() and os.listdir(out))
        return done.stderr

    def test_the_same_binary_gives_the_same_bytes_everywhere(self):
        binary, first = packed.stand_in(), packed.stand_in_dist()
        epoch = run("git", "log", "-1", "--format=%ct", cwd=REPOSITORY).strip()
        # Another checkout, folder, user, home, umask, zone, language and time.
        elsewhere = self.folder / "another folder"
        git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(git, cwd=REPOSITORY, check=True, capture_output=True)
        elsewhere.mkdir()
        there = b"\0".join(name for name in listed.stdout.split(b"\0") if name and (REPOSITORY / os.fsdecode(name)).exists())
        tar = subprocess.run(["tar", "c", "--null", "-T", "-"], cwd=REPOSITORY, input=there, check=True, capture_output=True)
        subprocess.run(["tar", "x", "-C", elsewhere], input=tar.stdout, check=True)
        copy = self.folder / "renamed"
        shutil.copy(binary, copy)
        copy.chmod(0o700)
        (self.folder / "tmp dir").mkdir()
        (self.folder / "tmp dir").chmod(0o2777)
        home = Path.home()
        environment = {
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(home / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(home / ".rustup")),
            "XDG_CACHE_HOME": str(packed.CACHE.parent),
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder), "USER": "somebody", "LOGNAME": "somebody", "TMPDIR": str(self.folder / "tmp dir"),
            "TZ": "Pacific/Kiritimati", "LANG": "ja_JP.UTF-8", "LC_ALL": "ja_JP.UTF-8", "TOOLCELL_LANG": "ja", "COLUMNS": "40",
            "PACK_LEVEL": "1", "SOURCE_DATE_EPOCH": epoch, "TOOLCELL_NATIVE": self.native,
        }
        # Where the kernel lets us, one of them as a user with another number.
        another = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
        if subprocess.run([*another, "true"], capture_output=True).returncode != 0:
            another = []
        for umask, enter in ((0o077, another), (0o000, [])):
            out = self.folder / f"out {umask}"
            done = subprocess.run(
                [*enter, elsewhere / ".ci/release/pack", copy, ARCH, out],
                env=environment, cwd=self.folder, umask=umask, capture_output=True, text=True,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.names(out), self.names(first))
            self.assertEqual(len(self.names(out)), 3)
            for name in self.names(out):
                self.assertEqual((out / name).read_bytes(), (first / name).read_bytes(), name)
                self.assertEqual(stat.S_IMODE((out / name).stat().st_mode), 0o644)
        # The time is in all of them.
        later = self.folder / "later"
        packed.pack(binary, later, TOOLCELL_NATIVE=self.native, SOURCE_DATE_EPOCH=str(int(epoch) + 86400))
        for name in self.names(first):
            self.assertNotEqual((later / name).read_bytes(), (first / name).read_bytes(), name)

    def test_of_a_binary_that_needs_a_c_library_there_is_no_image(self):
        source = self.folder / "dynamic.c"
        source.write_text("#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")
        run(os.environ.get("CC", "cc"), "-s", "-o", self.folder / "dynamic", source)
        out = self.folder / "out"
        out.mkdir()
        # The image of an earlier build would pass for one of this.
        (out / f"toolcell-{version()}-{ARCH}-oci.tar").write_text("earlier")
        said = packed.pack(self.folder / "dynamic", out, TOOLCELL_NATIVE=self.native)
        self.assertEqual(said, "no image: the binary needs a C library\n")
        self.assertEqual(self.names(out), [f"toolcell-{version()}-{ARCH}-linux.tar.gz", f"toolcell_{version()}_{packed.DEBIAN_ARCH}.deb"])
        depends = run("dpkg-deb", "--field", out / f"toolcell_{version()}_{packed.DEBIAN_ARCH}.deb", "Depends")
        self.assertRegex(depends, r"^libc6 \(>= 2\.\d+\)\n$")

    def test_the_program_of_nodes_is_an_archive_and_an_image(self):
        out = self.folder / "nodes"
        packed.pack(packed.stand_in(), out, TOOLCELL_NATIVE=str(packed.binary()), PACK_PROGRAM="toolcell-cluster")
        name = f"toolcell-cluster-{version()}-{ARCH}"
        self.assertEqual(self.names(out), [f"{name}-linux.tar.gz", f"{name}-oci.tar"])
        with tarfile.open(out / f"{name}-linux.tar.gz") as archive:
            files = {entry.name: entry for entry in archive.getmembers() if entry.isfile()}
            licences = archive.extractfile(f"{name}-linux/share/doc/toolcell-cluster/THIRD-PARTY-LICENSES").read().decode()
        texts = ("CHANGELOG.md", "LICENSE", "README.md", "THIRD-PARTY-LICENSES")
        expected = {f"{name}-linux/bin/toolcell-cluster", *(f"{name}-linux/share/doc/toolcell-cluster/{text}" for text in texts)}
        self.assertEqual(set(files), expected)
        self.assertEqual(files[f"{name}-linux/bin/toolcell-cluster"].mode, 0o755)
        # What it has, and the other program has not.
        self.assertIn("\ntokio-postgres 0.", licences)
        with tarfile.open(out / f"{name}-oci.tar") as layout:
            read = lambda path: json.loads(layout.extractfile(path).read())
            blob = lambda descriptor: "blobs/" + descriptor["digest"].replace(":", "/")
            (described,) = read("index.json")["manifests"]
            manifest = read(blob(described))
            config = read(blob(manifest["config"]))["config"]
            with tarfile.open(fileobj=layout.extractfile(blob(manifest["layers"][0])), mode="r:gz") as root:
                self.assertEqual(root.getmember("usr/bin/toolcell-cluster").mode, 0o755)
        self.assertEqual(described["annotations"]["io.containerd.image.name"], f"localhost/toolcell-cluster:{version()}")
        self.assertEqual((config["Entrypoint"], config["Volumes"]), (["/usr/bin/toolcell-cluster"], {"/data": {}}))
        self.refused(packed.stand_in(), TOOLCELL_NATIVE=str(packed.binary()), PACK_PROGRAM="another")

    def test_the_licence_of_a_c_library_that_is_linked_is_there(self):
        with tarfile.open(packed.stand_in_dist() / f"toolcell-{version()}-{ARCH}-linux.tar.gz") as archive:
            text = archive.extractfile(f"toolcell-{version()}-{ARCH}-linux/share/doc/toolcell/THIRD-PARTY-LICENSES").read().decode()
        self.assertIn("\nglibc linked statically: LGPL-2.1-or-later, ", text)
        self.assertIn("GNU LESSER GENERAL PUBLIC LICENSE", text)
        musl = run(REPOSITORY / ".ci/release/licenses", f"{ARCH}-unknown-linux-musl", "static")
        self.assertIn("\nmusl linked statically: MIT, ", musl)
        self.assertNotIn("GNU LESSER GENERAL PUBLIC LICENSE", musl)

    def test_nothing_of_a_binary_for_another_machine_is_run(self):
        foreign, debian = {"x86_64": ("aarch64", "arm64"), "aarch64": ("x86_64", "amd64")}[ARCH]
        program = bytearray(packed.stand_in().read_bytes())
        program[18:20] = {"aarch64": 183, "x86_64": 62}[foreign].to_bytes(2, "little")
        binary = self.folder / "foreign"
        binary.write_bytes(program)
        binary.chmod(0o755)
        self.assertIn("TOOLCELL_NATIVE", self.refused(binary, foreign))
        self.assertIn(f"not for {ARCH}", self.refused(binary, TOOLCELL_NATIVE=self.native))
        out = self.folder / "foreign out"
        packed.pack(binary, out, foreign, TOOLCELL_NATIVE=self.native)
        self.assertEqual(
            self.names(out),
            [f"toolcell-{version()}-{foreign}-linux.tar.gz", f"toolcell-{version()}-{foreign}-oci.tar", f"toolcell_{version()}_{debian}.deb"],
        )
        self.assertEqual(run("dpkg-deb", "--field", out / f"toolcell_{version()}_{debian}.deb", "Architecture"), f"{debian}\n")
        with tarfile.open(out / f"toolcell-{version()}-{foreign}-oci.tar") as layout:
            index = json.load(layout.extractfile("index.json"))
        self.assertEqual(index["manifests"][0]["platform"], {"architecture": debian, "os": "linux"})

    def test_what_cannot_be_packed_is_refused_with_the_next_step(self):
        self.assertIn("there is no file", self.refused(self.folder / "none"))
        self.assertIn("x86_64 or aarch64", self.refused(packed.stand_in(), "riscv64"))
        text = self.folder / "text"
        text.write_text("no binary")
        self.assertIn("no machine", self.refused(text))
        # It runs, and is another version.
        other = self.folder / "other"
        other.write_text("#!/bin/sh\necho toolcell 9.9.9\n")
        other.chmod(0o755)
        said = self.refused(packed.stand_in(), TOOLCELL_NATIVE=str(other))
        self.assertIn("toolcell 9.9.9", said)
        self.assertIn(version(), said)

    def test_a_failure_leaves_what_was_there(self):
        out = self.folder / "out"
        out.mkdir()
        before = {name: f"an earlier {name}".encode() for name in os.listdir(packed.stand_in_dist())}
        for name, content in before.items():
            (out / name).write_bytes(content)
        # Fails late: the archive is complete.
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "dpkg-deb").write_text("#!/bin/sh\nexit 9\n")
        (tools / "dpkg-deb").chmod(0o755)
        scratch = self.folder / "scratch"
        scratch.mkdir()
        done = subprocess.run(
            [packed.PACK, packed.stand_in(), ARCH, out], capture_output=True, text=True,
            env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "TOOLCELL_NATIVE": self.native, "TMPDIR": str(scratch), "PACK_LEVEL": "1"},
        )
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertEqual({name: (out / name).read_bytes() for name in os.listdir(out)}, before)
        self.assertEqual(os.listdir(scratch), [])


if __name__ == "__main__":
    unittest.main()
