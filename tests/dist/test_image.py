"""The container image: by its specification, as others read it, and its root file system in use.

A binary that is built for tests needs a C library, so that there is no image of it. Then a stand-in is packed, and where it has to run,
the binary and its libraries take its place.
"""
import hashlib
import json
import os
import shutil
import ssl
import stat
import subprocess
import tarfile
import tempfile
import unittest
import zipfile
import zlib
from pathlib import Path

import packed
from packed import ARCH, OCI_ARCH, REPOSITORY, run, version

USER = 65532
CERTIFICATES = REPOSITORY / ".ci/release/certificates"
NAME = f"toolcell-{version()}-{ARCH}-oci.tar"


def image():
    folder, is_release = packed.release()
    return folder / NAME if is_release else packed.stand_in_dist() / NAME


class Layout(unittest.TestCase):
    """https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md"""

    @classmethod
    def setUpClass(cls):
        with tarfile.open(image()) as layout:
            cls.entries = layout.getmembers()
            cls.files = {entry.name: layout.extractfile(entry).read() for entry in cls.entries if entry.isfile()}
        cls.used = set()

    def blob(self, descriptor, media_type):
        self.assertEqual(descriptor["mediaType"], media_type)
        algorithm, digest = descriptor["digest"].split(":")
        self.assertEqual(algorithm, "sha256")
        content = self.files[f"blobs/sha256/{digest}"]
        self.assertEqual(len(content), descriptor["size"])
        self.assertEqual(hashlib.sha256(content).hexdigest(), digest)
        self.used.add(f"blobs/sha256/{digest}")
        return content

    def parts(self):
        self.assertEqual(json.loads(self.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        index = json.loads(self.files["index.json"])
        self.assertEqual((index["schemaVersion"], index["mediaType"]), (2, "application/vnd.oci.image.index.v1+json"))
        (described,) = index["manifests"]
        self.assertEqual(described["platform"], {"architecture": OCI_ARCH, "os": "linux"})
        self.assertEqual(described["annotations"]["org.opencontainers.image.ref.name"], version())
        manifest = json.loads(self.blob(described, "application/vnd.oci.image.manifest.v1+json"))
        self.assertEqual((manifest["schemaVersion"], manifest["mediaType"]), (2, described["mediaType"]))
        config = json.loads(self.blob(manifest["config"], "application/vnd.oci.image.config.v1+json"))
        (layer,) = manifest["layers"]
        return manifest, config, self.blob(layer, "application/vnd.oci.image.layer.v1.tar+gzip")

    def test_every_blob_has_its_digest_and_size_and_there_is_no_other(self):
        self.parts()
        self.assertEqual(set(self.files), self.used | {"oci-layout", "index.json"})
        for entry in self.entries:
            self.assertEqual((entry.uid, entry.gid, entry.mode), (0, 0, 0o755 if entry.isdir() else 0o644), entry.name)

    def test_the_identity_of_the_layer_is_that_of_its_contents(self):
        _, config, layer = self.parts()
        decompressor = zlib.decompressobj(wbits=31)
        content = decompressor.decompress(layer) + decompressor.flush()
        self.assertEqual(decompressor.unused_data, b"")
        self.assertEqual(config["rootfs"], {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(content).hexdigest()}"]})
        self.assertEqual(len([step for step in config["history"] if not step.get("empty_layer")]), 1)

    def test_the_configuration_runs_it_as_a_user_without_rights(self):
        manifest, config, _ = self.parts()
        self.assertEqual((config["architecture"], config["os"]), (OCI_ARCH, "linux"))
        self.assertEqual(config["config"]["User"], f"{USER}:{USER}")
        self.assertEqual(config["config"]["Entrypoint"], ["/usr/bin/toolcell"])
        self.assertIn("TOOLCELL_DIR=/data/store", config["config"]["Env"])
        self.assertEqual(config["config"]["Volumes"], {"/data": {}})
        labels = config["config"]["Labels"]
        self.assertEqual(labels, manifest["annotations"])
        prefix = "org.opencontainers.image."
        self.assertEqual((labels[f"{prefix}title"], labels[f"{prefix}version"], labels[f"{prefix}licenses"]), ("toolcell", version(), "Apache-2.0"))
        self.assertEqual(labels[f"{prefix}created"], config["created"])
        self.assertRegex(config["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_others_read_it(self):
        packed.need("skopeo")
        said = json.loads(run("skopeo", "inspect", f"oci-archive:{image()}"))
        self.assertEqual((said["Architecture"], said["Os"], said["Labels"]["org.opencontainers.image.version"]), (OCI_ARCH, "linux", version()))
        # It checks each digest on the way.
        with tempfile.TemporaryDirectory(dir=packed.SCRATCH) as folder:
            run("skopeo", "copy", "--insecure-policy", f"oci-archive:{image()}", f"dir:{folder}/copy")


class Root(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        packed.need_root()
        cls.folder = Path(tempfile.mkdtemp(prefix="image-", dir=packed.SCRATCH))
        # The user of the image has to come through.
        for folder in (packed.SCRATCH, cls.folder):
            folder.chmod(0o755)
        layout = cls.folder / "layout"
        layout.mkdir()
        packed.unpack(image(), layout)
        cls.layout = layout
        index = json.loads((layout / "index.json").read_text())
        blob = lambda descriptor: layout / "blobs" / descriptor["digest"].replace(":", "/")
        manifest = json.loads(blob(index["manifests"][0]).read_text())
        cls.config = json.loads(blob(manifest["config"]).read_text())["config"]
        cls.root = cls.folder / "root"
        cls.root.mkdir()
        packed.unpack(blob(manifest["layers"][0]), cls.root)

    def walk(self, root):
        found = {}
        for folder, folders, files in os.walk(root):
            for name in folders + files:
                path = Path(folder, name)
                status = path.lstat()
                content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
                found[str(path.relative_to(root))] = (stat.filemode(status.st_mode), status.st_uid, status.st_gid, content)
        return found

    def test_it_has_these_files_and_no_other(self):
        found = self.walk(self.root)
        self.assertEqual(
            {name for name, (mode, *_) in found.items() if mode[0] != "d"},
            {
                "usr/bin/toolcell", "etc/passwd", "etc/group", "etc/ssl/certs/ca-certificates.crt", "usr/share/doc/ca-certificates/LICENSE",
                "usr/share/doc/toolcell/LICENSE", "usr/share/doc/toolcell/THIRD-PARTY-LICENSES",
            },
        )
        self.assertEqual(found["data"], ("drwx------", USER, USER, None))
        self.assertEqual(found["tmp"], ("drwxrwxrwt", 0, 0, None))
        for name, (mode, user, group, _) in found.items():
            if name not in ("data", "tmp"):
                self.assertEqual((user, group), (0, 0), name)
                self.assertEqual(mode, "drwxr-xr-x" if mode[0] == "d" else "-rwxr-xr-x" if name == "usr/bin/toolcell" else "-rw-r--r--", name)
        self.assertIn(f"toolcell:x:{USER}:{USER}:", (self.root / "etc/passwd").read_text())
        self.assertIn(f"toolcell:x:{USER}:", (self.root / "etc/group").read_text())

    def test_its_certificates_parse_and_are_those_that_are_pinned(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        file = self.root / "etc/ssl/certs/ca-certificates.crt"
        context.load_verify_locations(file)
        self.assertGreater(len(context.get_ca_certs()), 100)
        self.assertEqual(len(context.get_ca_certs()), file.read_text().count("BEGIN CERTIFICATE"))
        with zipfile.ZipFile(run(CERTIFICATES).strip()) as pinned:
            self.assertEqual(file.read_bytes(), pinned.read("certifi/cacert.pem"))

    def test_certificates_that_were_changed_are_not_used(self):
        wheel = Path(run(CERTIFICATES).strip())
        with tempfile.TemporaryDirectory(dir=packed.SCRATCH) as folder:
            kept = Path(folder, "toolcell-ci/certificates", wheel.name)
            kept.parent.mkdir(parents=True)
            (Path(folder) / "python3").write_text("#!/bin/sh\nexit 1\n")
            (Path(folder) / "python3").chmod(0o755)
            environment = os.environ | {"XDG_CACHE_HOME": folder, "PATH": f"{folder}:{os.environ['PATH']}"}
            for content, ended in ((wheel.read_bytes(), 0), (wheel.read_bytes() + b"\n", 1)):
                kept.write_bytes(content)
                done = subprocess.run([CERTIFICATES], env=environment, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (ended, "" if ended else f"{kept}\n"))
            self.assertIn("cannot fetch the root certificates", done.stderr)

    def test_another_tool_unpacks_the_same_root(self):
        packed.need("umoci")
        bundle = self.folder / "bundle"
        run("umoci", "unpack", "--image", f"{self.layout}:{version()}", bundle)
        self.assertEqual(self.walk(bundle / "rootfs"), self.walk(self.root))
        process = json.loads((bundle / "config.json").read_text())["process"]
        self.assertEqual((process["user"]["uid"], process["user"]["gid"]), (USER, USER))
        self.assertEqual((process["args"], process["cwd"]), (["/usr/bin/toolcell"], "/workspace"))

    def usable(self):
        """The root, with a data folder of its own, and with a binary that runs in it."""
        into = Path(tempfile.mkdtemp(prefix="root-", dir=self.folder)) / "root"
        run("cp", "-a", self.root, into)
        into.parent.chmod(0o755)
        if packed.release()[1]:
            return into
        shutil.copy(packed.binary(), into / "usr/bin/toolcell")
        for line in run("ldd", packed.binary()).splitlines():
            for library in (word for word in line.split() if word.startswith("/")):
                (into / library[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, into / library[1:])
        return into

    def uses(self, enter, root):
        """What people do with the image, entered with these words. Sources come over standard input, for no folder is mounted."""

        def toolcell(*words, given="", ended=0):
            done = subprocess.run([*enter, *self.config["Entrypoint"], *words], input=given, capture_output=True, text=True, env={})
            self.assertEqual(done.returncode, ended, f"{words}: {done.stdout}{done.stderr}")
            return done.stdout

        self.assertEqual(toolcell("--version"), f"toolcell {version()}\n")
        doctor = json.loads(toolcell("doctor", "--json"))
        self.assertIn(f'"user":{USER}', json.dumps(doctor, separators=(",", ":")))
        source = (REPOSITORY / "fixtures/tools/string_reverse.js").read_text()
        self.assertIn("string_reverse", toolcell("create", "-", "--name", "string_reverse", "--description", "Reverses a text", given=source))
        self.assertEqual(toolcell("run", "string_reverse", "text=World"), "dlroW\n")
        self.assertIn("string_reverse", toolcell("list"))
        self.assertIn("no problems", toolcell("fsck"))
        # The store is in the one folder that is for it, and is the user's.
        stored = self.walk(root / "data")
        self.assertIn("store/toolcell-store", stored)
        self.assertEqual({(user, group) for _, user, group, _ in stored.values()}, {(USER, USER)})
        # Nothing else has changed.
        others = {name: entry for name, entry in self.walk(root).items() if name.split("/")[0] not in ("data", "proc", "dev")}
        return others

    def variables(self):
        return [word for variable in self.config["Env"] for word in ("--setenv", *variable.split("=", 1))]

    def test_it_works_under_chroot_as_its_user(self):
        root = self.usable()
        before = {name: entry for name, entry in self.walk(root).items() if name.split("/")[0] != "data"}
        enter = ["setpriv", "--no-new-privs", "chroot", f"--userspec={self.config['User']}", "--groups=", root]
        # The variables of the image, given by a shell that is not in it.
        enter = ["/usr/bin/env", "-i", *self.config["Env"][1:], "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *enter]
        self.assertEqual(self.uses(enter, root), before)

    def test_it_works_under_bubblewrap_with_nothing_to_write_but_data(self):
        packed.need("bwrap", "bubblewrap")
        root = self.usable()
        for mounts in ([], ["--proc", "/proc", "--dev", "/dev"]):
            shutil.rmtree(root / "data/store", ignore_errors=True)
            for folder in ("proc", "dev") if mounts else ():
                (root / folder).mkdir(exist_ok=True)
            before = {name: entry for name, entry in self.walk(root).items() if name.split("/")[0] not in ("data", "proc", "dev")}
            enter = [
                *("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--no-new-privs"),
                *("/usr/bin/bwrap", "--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
                "--ro-bind", root, "/", "--bind", root / "data", "/data", *mounts, "--chdir", self.config["WorkingDir"], "--clearenv",
                *self.variables(),
            ]
            trial = subprocess.run([*enter, "/usr/bin/toolcell", "--version"], capture_output=True, text=True)
            if trial.returncode != 0 and trial.stderr.startswith(("bwrap: ", "setpriv: ")):
                self.skipTest(f"bubblewrap can make no sandbox here: {trial.stderr.strip()}")
            with self.subTest(mounts=mounts):
                self.assertEqual(self.uses(enter, root), before)

    def test_real_uses_work_under_each_restriction(self):
        """`.ci/uses` in the root of the image, with less and less, and the same results and fuel each time."""
        if not packed.release()[1]:
            self.skipTest("the binary of the tests is not static: make lockdown tests it")
        packed.need("bwrap", "bubblewrap")
        root = self.usable()
        as_user = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--no-new-privs"]
        launcher = Path(os.environ.get("CARGO_TARGET_DIR") or packed.CACHE) / "debug/lockdown"
        # What comes before bubblewrap, and options of it. What is not named is there.
        restrictions = {
            "user": (as_user, []),
            "network": ([], ["--unshare-net"]),
            "home": ([], ["--clearenv"]),
            "address space": (["prlimit", "--as=268435456"], []),
            "files": (["prlimit", "--nofile=64"], []),
        }
        if launcher.is_file():
            # Where others than root may execute it.
            launcher = shutil.copy(launcher, root.parent / "lockdown")
            restrictions["executable pages"] = ([str(launcher), "--no-executable-pages", "--"], [])
        # Inside, /proc is mounted only if that is not taken away.
        every = [*restrictions, "proc"]
        for folder in ("proc", "dev"):
            (root / folder).mkdir(exist_ok=True)
        expected = None
        for names in ([], *([name] for name in every), every):
            folder = Path(tempfile.mkdtemp(prefix="toolcell-uses-", dir="/tmp"))
            self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
            (folder / "requests").write_text(run(REPOSITORY / ".ci/requests", cwd=REPOSITORY))
            if "user" in names:
                run("chown", "-R", f"{USER}:{USER}", folder)
            taken = [restrictions[name] for name in names if name != "proc"]
            enter = [
                *(word for before, _ in taken for word in before),
                *("bwrap", "--unshare-user-try", "--die-with-parent", "--ro-bind", root, "/", "--tmpfs", "/tmp", "--bind", folder, folder),
                *("--tmpfs", "/workspace", "--ro-bind", REPOSITORY / "fixtures", "/workspace/fixtures", "--chdir", "/workspace"),
                *("--dev", "/dev", *([] if "proc" in names else ["--proc", "/proc"])),
                *(word for _, options in taken for word in options),
            ]
            with self.subTest(taken=names):
                run(REPOSITORY / ".ci/uses", folder, *enter, "/usr/bin/toolcell", timeout=900)
                facts = run(REPOSITORY / ".ci/requests", folder / "answers", cwd=REPOSITORY)
                expected = expected or facts
                self.assertGreater(facts.count("\n"), 400)
                self.assertEqual(facts, expected)

    def test_its_user_can_write_into_data_and_tmp_alone(self):
        root = self.usable()
        said = run(
            "setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "--no-new-privs", "find", root, "-writable", "-printf", "%P\\n",
        )
        self.assertEqual(sorted(said.split()), ["data", "tmp"])


if __name__ == "__main__":
    unittest.main()
