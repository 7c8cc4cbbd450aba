"""install.sh and what signs it, as users and attackers meet them: in three shells, with the tools that a machine may have.

The releases are small and made here, by `.ci/release/sign` with keys that live as long as the tests; a server on loopback
serves them, or what an attacker would. A refusal has to leave the prefix and the folder for temporary files as they were.
"""

import base64
import contextlib
import functools
import hashlib
import http.server
import io
import itertools
import os
import re
import shutil
import signal
import ssl
import stat
import subprocess
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path

import packed

ROOT = Path(__file__).resolve().parents[2]
SIGN = ROOT / ".ci/release/sign"
TEMPLATE = ROOT / ".ci/release/install.sh"
MACHINE = packed.ARCH
VERSION, OLDER = "1.1.0", "1.0.0"
SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}
# What install.sh needs on every machine.
BASE = (
    "cat cp cut find grep gzip head id mkdir mktemp mv rm rmdir sed sha256sum sort tail tar tr uname".split()
)
CLIENTS = {"curl": ["curl"], "wget": ["wget", "timeout"]}
VERIFIERS = ["minisign", "openssl"]
NOBODY = 65534
# A request that a test does not expect to last so long has hung.
SECONDS = 60


def setUpModule():
    """Installs what Debian has, where that is allowed, and makes the keys."""
    for command in "minisign b3sum dash busybox curl wget openssl".split():
        packed.need(command)
    packed.need("setpriv", "util-linux")
    global WORK, KEY, OTHER_KEY, PUBLIC_KEY
    WORK = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    WORK.chmod(0o755)
    KEY, PUBLIC_KEY = new_key("key")
    OTHER_KEY, _ = new_key("other")


def new_key(name):
    secret, public = WORK / f"{name}.secret", WORK / f"{name}.public"
    subprocess.run(["minisign", "-G", "-W", "-s", secret, "-p", public], check=True, capture_output=True)
    return secret, public.read_text().splitlines()[1]


# Releases.


def folder_of(version):
    return f"toolcell-{version}-{MACHINE}-linux"


def payload(version, **more):
    """The files of a release: a program that says its version, and what lies beside it."""
    program = f'#!/bin/sh\n[ "$1" != --version ] || echo toolcell {version}\n'
    files = {"bin/toolcell": program, "share/man/man1/toolcell.1": f"page of {version}\n"}
    files |= {"share/zsh/site-functions/_toolcell": "#compdef toolcell\n", "share/doc/toolcell/LICENSE": "licence\n"}
    return files | more


def member(name, text="", mode=0o644, **fields):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text.encode()), mode
    for field, value in fields.items():
        setattr(info, field, value)
    return info, text.encode()


def members_of(version, files):
    top = folder_of(version)
    folders = {f"{top}/{parent}" for name in files for parent in Path(name).parents}
    yield from (member(folder.removesuffix("/."), mode=0o755, type=tarfile.DIRTYPE) for folder in sorted(folders))
    for name, text in files.items():
        yield member(f"{top}/{name}", text, 0o755 if name.startswith("bin/") else 0o644)


def archive_of(members):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for info, text in members:
            archive.addfile(info, io.BytesIO(text))
    return data.getvalue()


def sign(out, version, key, url="", path=None, **options):
    """Signs with the script of the repository; a copy of it where the version has to be another one."""
    tree = WORK / f"tree-{version}"
    (tree / ".ci/release").mkdir(parents=True, exist_ok=True)
    for file in SIGN, TEMPLATE:
        shutil.copy(file, tree / ".ci/release")
    (tree / "Cargo.toml").write_text(f'[workspace.package]\nedition = "2024"\nversion = "{version}"\n')
    environment = os.environ | {"TOOLCELL_RELEASE_URL": url, "TOOLCELL_SIGNING_KEY": str(key or "")}
    environment |= {"PATH": str(path)} if path else {}
    return subprocess.run(
        [tree / ".ci/release/sign", out], env=environment, capture_output=True, text=True, timeout=SECONDS, **options
    )


@functools.cache
def release(version=VERSION, key="key", files=None, archive=None, name=None):
    """What a release serves, by name: with other files (pairs), or another archive, than usual."""
    out = Path(tempfile.mkdtemp(dir=WORK))
    data = archive_of(members_of(version, dict(files) if files else payload(version))) if archive is None else archive
    (out / (name or f"{folder_of(version)}.tar.gz")).write_bytes(data)
    signed = sign(out, version, KEY if key == "key" else OTHER_KEY)
    assert signed.returncode == 0, signed.stderr
    return {file.name: file.read_bytes() for file in out.iterdir()}


def old_release():
    """One that has a file that the next does not have, in a folder that the next does not have either."""
    return release(OLDER, files=tuple(payload(OLDER, **{"share/old/page": "old\n"}).items()))


ARCHIVE = f"{folder_of(VERSION)}.tar.gz"


# The server, and what it can do beside serving a file. Each of these gets the handler of a request.


class Server:
    """Serves a dictionary of names: bytes, or a function that answers."""

    def __init__(self, files, certificate=None):
        self.files, self.requests, self.ended = files, [], threading.Event()
        self.hangs, self.left = threading.Event(), threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            server_answers = outer

            def do_GET(self):
                outer.requests.append(self.path)
                answer = outer.files.get(self.path.lstrip("/"))
                if answer is None:
                    self.send_error(404)
                elif callable(answer):
                    with contextlib.suppress(ConnectionError):
                        answer(self)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    with contextlib.suppress(ConnectionError):
                        self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.http.server_address[1]}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"0" * 65536)


def huge(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 40))
    handler.end_headers()
    endless(handler)


def dribble(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "10000")
    handler.end_headers()
    while not handler.server_answers.ended.wait(0.1):
        handler.wfile.write(b"0")


def steady(handler):
    """Fast enough to look alive, and without end."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server_answers.ended.wait(0.1):
        handler.wfile.write(b"0" * 5000)


def silent(handler):
    """Answers nothing, and tells when the client has come and when it has left."""
    handler.server_answers.hangs.set()
    handler.connection.recv(1)
    handler.server_answers.left.set()


def broken_off(data):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[: len(data) // 2])

    return answer


def redirect(url):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", url)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


# Machines.


@functools.cache
def toolbox(*commands, busybox=False):
    """A folder for PATH that has only these commands, and those that every machine has."""
    path = Path(tempfile.mkdtemp(dir=WORK))
    path.chmod(0o755)
    for command in {*BASE, *commands}:
        applet = busybox and command not in ("curl", "minisign", "openssl")
        (path / command).symlink_to(shutil.which("busybox" if applet else command))
    return path


def machines():
    """All combinations of what downloads, what verifies, and where the other tools come from."""
    for client, commands in CLIENTS.items():
        for verifier in VERIFIERS:
            yield f"{client} and {verifier}", toolbox(*commands, verifier)
    for verifier in VERIFIERS:
        yield f"all of busybox, and {verifier}", toolbox("wget", "timeout", verifier, busybox=True)


def machines_in_turns():
    """Each of them once, and the shells in turns."""
    for shell, (machine, path) in zip(itertools.cycle(SHELLS), machines()):
        yield shell, machine, path


def replaced(path, command, script):
    """A copy of such a folder, where a script stands for a command."""
    copy = Path(tempfile.mkdtemp(dir=WORK))
    copy.chmod(0o755)
    for tool in path.iterdir():
        (copy / tool.name).symlink_to(tool.resolve())
    (copy / command).unlink(missing_ok=True)
    (copy / command).write_text(f"#!{shutil.which('dash')}\n{script}\n")
    (copy / command).chmod(0o755)
    return copy


def tree(folder, times=False):
    """All that is in a folder, so that two states of it can be compared."""
    state = {}
    for path in [folder, *sorted(folder.rglob("*"))] if os.path.lexists(folder) else []:
        status = path.lstat()
        kind, content = stat.filemode(status.st_mode), None
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = path.read_bytes()
        state[str(path.relative_to(folder))] = (kind, content, status.st_ino, status.st_mtime_ns if times else 0)
    return state


def names(folder):
    return sorted(tree(folder))


class InstallCase(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory(dir=WORK)))
        self.home.chmod(0o755)
        self.prefix, self.temporary = self.home / "prefix", self.home / "tmp"
        self.temporary.mkdir()
        self.temporary.chmod(0o1777)
        self.toolbox = toolbox("curl", "minisign")

    def serve(self, files, **options):
        return self.enterContext(Server(files, **options))

    def start(self, script, *arguments, shell="dash", path=None, url=None, enter=(), **options):
        """Starts the script as `curl | sh -s --` would."""
        variables = {"PATH": str(path or self.toolbox), "HOME": str(self.home), "TMPDIR": str(self.temporary)}
        variables |= {"TOOLCELL_RELEASE_URL": url or ""} | options.pop("env", {})
        interpreter, *flags = SHELLS[shell]
        process = subprocess.Popen(
            [*enter, shutil.which(interpreter), *flags, "-s", "--", *map(str, arguments)],
            env={name: value for name, value in variables.items() if value is not None},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home,
            # A shell cannot trap what was ignored when it started.
            preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGHUP)],
            **options,
        )
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(script)
        process.stdin.close()
        process.stdin = None
        return process

    def run_script(self, *arguments, **options):
        process = self.start(*arguments, **options)
        try:
            output, errors = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, output.decode(), errors.decode()

    def install(self, files, *arguments, server=None, **options):
        with contextlib.ExitStack() as stack:
            if not options.get("url"):
                options["url"] = (server or stack.enter_context(Server(files))).url
            arguments = arguments or ("--prefix", self.prefix)
            status, output, errors = self.run_script(files["install.sh"], *arguments, **options)
        self.assertEqual((status, errors), (0, ""), output)
        self.assertEqual(list(self.temporary.iterdir()), [])
        return output

    def uninstall(self, prefix=None, **options):
        script = release()["install.sh"]
        status, output, errors = self.run_script(script, "--remove", "--prefix", prefix or self.prefix, **options)
        self.assertEqual((status, errors), (0, ""), output)
        return output

    def version_in(self, prefix):
        return subprocess.run([prefix / "bin/toolcell", "--version"], capture_output=True, text=True).stdout.strip()

    def with_an_older_one(self):
        """A prefix in which the older release and a file of the user are."""
        (self.prefix / "share/mine").mkdir(parents=True, exist_ok=True)
        (self.prefix / "share/mine/notes").write_text("mine\n")
        self.install(old_release())

    def refuses(self, files, says, *arguments, script=None, times=True, **options):
        """The script fails, says why, and leaves everything as it was."""
        before = tree(self.prefix, times)
        with contextlib.ExitStack() as stack:
            if "url" not in options:
                options["url"] = stack.enter_context(Server(files)).url
            arguments = arguments or ("--prefix", self.prefix)
            status, output, errors = self.run_script(script or files["install.sh"], *arguments, **options)
        self.assertNotIn(status, (0, None), output)
        self.assertRegex(errors, says)
        self.assertEqual(output, "")
        self.assertEqual(tree(self.prefix, times), before)
        self.assertEqual(list(self.temporary.iterdir()), [])
        return errors


class Installs(InstallCase):
    def test_it_installs_and_runs_and_is_removed_without_a_trace_in_every_shell_with_every_tool(self):
        (self.prefix / "share/man").mkdir(parents=True)
        (self.prefix / "bin").mkdir()
        (self.prefix / "bin/mine").write_text("mine\n")
        before = tree(self.prefix)
        for shell in SHELLS:
            for machine, path in machines():
                with self.subTest(shell=shell, machine=machine):
                    output = self.install(release(), shell=shell, path=path)
                    self.assertIn(f"installed toolcell {VERSION}: {self.prefix}/bin/toolcell", output)
                    self.assertEqual(self.version_in(self.prefix), f"toolcell {VERSION}")
                    for name, text in payload(VERSION).items():
                        self.assertEqual((self.prefix / name).read_text(), text)
                        mode = 0o755 if name.startswith("bin/") else 0o644
                        self.assertEqual(stat.S_IMODE((self.prefix / name).stat().st_mode), mode)
                    self.uninstall(shell=shell, path=path)
                    self.assertEqual(tree(self.prefix), before)

    def test_a_prefix_that_was_not_there_is_removed_as_well(self):
        self.install(release())
        self.uninstall()
        self.assertFalse(self.prefix.exists())

    def test_the_script_runs_from_a_file_too(self):
        server = self.serve(release())
        file = self.home / "install.sh"
        file.write_bytes(release()["install.sh"])
        for shell in SHELLS.values():
            variables = {"PATH": str(self.toolbox), "TOOLCELL_RELEASE_URL": server.url, "TMPDIR": str(self.temporary)}
            command = [shutil.which(shell[0]), *shell[1:], file, "--prefix", self.prefix]
            done = subprocess.run(command, env=variables, capture_output=True, timeout=SECONDS)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.version_in(self.prefix), f"toolcell {VERSION}")
            self.uninstall()

    def test_the_umask_of_the_user_changes_nothing(self):
        script = b"umask 077\n" + release()["install.sh"]
        server = self.serve(release())
        status, _, errors = self.run_script(script, "--prefix", self.prefix, url=server.url)
        self.assertEqual((status, errors), (0, ""))
        for path in self.prefix.rglob("*"):
            expected = 0o755 if path.is_dir() or path.parent.name == "bin" else 0o644
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), expected, path)

    def test_installing_again_changes_nothing_that_can_be_seen(self):
        self.install(release())
        once = {name: state[:2] for name, state in tree(self.prefix).items()}
        self.install(release())
        self.assertEqual({name: state[:2] for name, state in tree(self.prefix).items()}, once)

    def test_an_upgrade_removes_what_the_new_release_does_not_have(self):
        for shell, machine, path in machines_in_turns():
            with self.subTest(shell=shell, machine=machine):
                self.with_an_older_one()
                self.assertTrue((self.prefix / "share/old/page").exists())
                self.install(release(), shell=shell, path=path)
                self.assertFalse((self.prefix / "share/old").exists())
                self.assertEqual(self.version_in(self.prefix), f"toolcell {VERSION}")
                self.assertNotIn("old", (self.prefix / "share/toolcell/installed").read_text())
                self.uninstall(shell=shell, path=path)
                self.assertEqual(names(self.prefix), [".", "share", "share/mine", "share/mine/notes"])

    def test_an_upgrade_does_not_change_the_program_that_is_running(self):
        self.with_an_older_one()
        with (self.prefix / "bin/toolcell").open() as running:
            self.install(release())
            self.assertEqual(running.read(), payload(OLDER)["bin/toolcell"])
            self.assertNotEqual(os.fstat(running.fileno()).st_ino, (self.prefix / "bin/toolcell").stat().st_ino)

    def test_the_manifest_can_be_checked_by_sha256sum(self):
        self.install(release())
        manifest = (self.prefix / "share/toolcell/installed").read_text().splitlines()
        files = [line for line in manifest if not line.startswith("-")]
        self.assertEqual(sorted(line[66:] for line in files), sorted(payload(VERSION)))
        for line in files:
            self.assertEqual(line[:64], hashlib.sha256((self.prefix / line[66:]).read_bytes()).hexdigest())

    def test_the_prefix_may_have_any_name(self):
        for name in ["a space", "it's", 'a "quote"', "$HOME`id`;#&", "back\\slash\\n", "*", "-rf", "~", "ü"]:
            for shell in SHELLS:
                with self.subTest(name=name, shell=shell):
                    prefix = self.home / name
                    output = self.install(release(), "--prefix", prefix, shell=shell)
                    self.assertEqual(self.version_in(prefix), f"toolcell {VERSION}")
                    # The line for PATH works as it is printed.
                    line = re.search(r"export PATH=.*", output)[0]
                    found = subprocess.run(["dash", "-c", f"{line}; command -v toolcell"], capture_output=True, text=True)
                    self.assertEqual(found.stdout.strip(), f"{prefix}/bin/toolcell")
                    self.uninstall(prefix, shell=shell)
                    self.assertFalse(prefix.exists())

    def test_a_relative_prefix_is_below_the_current_folder(self):
        self.install(release(), "--prefix", "here/it is/")
        self.assertEqual(self.version_in(self.home / "here/it is"), f"toolcell {VERSION}")

    def test_the_note_about_the_path_is_left_out_where_it_is_there(self):
        path = f"{self.toolbox}:{self.prefix}/bin"
        self.assertNotIn("PATH", self.install(release(), path=path))
        self.assertIn("PATH", self.install(release()))

    def test_the_default_is_the_home_of_who_is_not_root(self):
        path = replaced(self.toolbox, "id", "echo 1000")
        server = self.serve(release())
        script = release()["install.sh"]
        status, _, errors = self.run_script(script, path=path, url=server.url)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(self.version_in(self.home / ".local"), f"toolcell {VERSION}")
        status, _, errors = self.run_script(script, path=path, url=server.url, env={"HOME": None})
        self.assertNotEqual(status, 0)
        self.assertRegex(errors, "HOME: choose a folder with --prefix")

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_the_default_of_root_is_usr_local(self):
        # A user who only looks like root is refused there: nothing of this machine changes.
        path = replaced(self.toolbox, "id", "echo 0")
        server = self.serve(release())
        enter = [shutil.which("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        status, _, errors = self.run_script(release()["install.sh"], path=path, url=server.url, enter=enter)
        self.assertNotEqual(status, 0)
        self.assertRegex(errors, "cannot write to /usr/local/.*--prefix")

    def test_help_names_the_options(self):
        for shell in SHELLS:
            status, output, _ = self.run_script(release()["install.sh"], "--help", shell=shell)
            self.assertEqual(status, 0)
            for option in "--prefix", "--remove", VERSION:
                self.assertIn(option, output)

    def test_a_redirect_is_followed(self):
        elsewhere = self.serve(release())
        files = {name: redirect(f"{elsewhere.url}/{name}") for name in release()}
        for machine, path in machines():
            with self.subTest(machine=machine):
                server = self.serve(files)
                self.install(release(), server=server, path=path)

    def test_a_signature_with_the_line_ends_of_windows_is_verified(self):
        files = release() | {"SHA256SUMS.minisig": release()["SHA256SUMS.minisig"].replace(b"\n", b"\r\n")}
        for verifier in VERIFIERS:
            for busybox in False, True:
                with self.subTest(verifier=verifier, busybox=busybox):
                    self.install(files, path=toolbox("curl", verifier, busybox=busybox))

    def test_a_slash_at_the_end_of_the_address_is_no_part_of_it(self):
        server = self.serve(release())
        self.install(release(), url=server.url + "/")
        self.assertEqual(server.requests[0], "/SHA256SUMS")


class Removes(InstallCase):
    def test_without_a_manifest_nothing_is_removed(self):
        (self.prefix / "bin").mkdir(parents=True)
        (self.prefix / "bin/toolcell").write_text("of another package\n")
        for shell in SHELLS:
            says = f"nothing to remove, there is no {self.prefix}/share/toolcell/installed.*--prefix"
            self.refuses(release(), says, "--remove", "--prefix", self.prefix, shell=shell)

    def test_what_was_changed_or_added_stays(self):
        self.install(release())
        (self.prefix / "bin/toolcell").write_text("built by the user\n")
        (self.prefix / "share/man/man1/mine.1").write_text("mine\n")
        output = self.uninstall()
        self.assertIn(f"kept {self.prefix}/bin/toolcell", output)
        left = [name for name in names(self.prefix) if (self.prefix / name).is_file()]
        self.assertEqual(left, ["bin/toolcell", "share/man/man1/mine.1"])

    def test_what_is_gone_already_is_no_failure(self):
        self.install(release())
        shutil.rmtree(self.prefix / "share/man")
        (self.prefix / "bin/toolcell").unlink()
        self.uninstall()
        self.assertFalse(self.prefix.exists())

    def test_a_manifest_that_names_other_places_is_refused(self):
        victim = self.home / "victim"
        victim.write_text("precious\n")
        digest = hashlib.sha256(victim.read_bytes()).hexdigest()
        for line in [f"{digest}  ../victim", f"{digest}  {victim}", f"{digest}  bin/../../victim", "-  ..", "-  share/..", ""]:
            self.install(release())
            manifest = self.prefix / "share/toolcell/installed"
            good = manifest.read_text()
            manifest.write_text(good + line + "\n")
            for shell in SHELLS:
                with self.subTest(line=line, shell=shell):
                    self.refuses(release(), "installed is damaged", "--remove", "--prefix", self.prefix, shell=shell)
                    self.refuses(release(), "installed is damaged", shell=shell)
            manifest.write_text(good)
        self.assertTrue(victim.exists())

    def test_a_removal_that_fails_keeps_the_manifest(self):
        self.install(release())
        path = replaced(self.toolbox, "rm", f'case $* in *LICENSE*) exit 1 ;; esac; exec {shutil.which("rm")} "$@"')
        for shell in SHELLS:
            status, output, errors = self.run_script(
                release()["install.sh"], "--remove", "--prefix", self.prefix, path=path, shell=shell
            )
            self.assertNotEqual(status, 0)
            self.assertNotIn("removed", output)
            self.assertRegex(errors, "run this again")
            self.assertTrue((self.prefix / "share/toolcell/installed").exists())
        self.uninstall()
        self.assertFalse(self.prefix.exists())


class Refuses(InstallCase):
    """Each of these runs in a prefix where an older release is, which has to stay."""

    def setUp(self):
        super().setUp()
        self.with_an_older_one()

    def everywhere(self, files, says, **options):
        for shell, machine, path in machines_in_turns():
            with self.subTest(shell=shell, machine=machine):
                self.refuses(files, says, shell=shell, path=path, **options)

    # What the server does.

    def test_an_archive_that_breaks_off_is_refused(self):
        self.everywhere(release() | {ARCHIVE: broken_off(release()[ARCHIVE])}, f"{ARCHIVE}.*: (check|try again)")

    def test_a_truncated_archive_is_refused(self):
        self.everywhere(release() | {ARCHIVE: release()[ARCHIVE][:-7]}, "not the one that was signed.*report")

    def test_an_empty_archive_is_refused(self):
        self.everywhere(release() | {ARCHIVE: b""}, "not the one that was signed")

    def test_another_archive_is_refused(self):
        other = archive_of(members_of(VERSION, payload("6.6.6")))
        self.everywhere(release() | {ARCHIVE: other}, "not the one that was signed")

    def test_sums_that_were_changed_are_refused(self):
        other = archive_of(members_of(VERSION, payload("6.6.6")))
        sums = f"{hashlib.sha256(other).hexdigest()}  {ARCHIVE}\n".encode()
        says = "SHA256SUMS is not signed with the key of this script"
        self.everywhere(release() | {ARCHIVE: other, "SHA256SUMS": sums}, says)

    def test_the_signature_of_another_key_is_refused(self):
        files = release(key="other") | {"install.sh": release()["install.sh"]}
        self.everywhere(files, "not signed with the key of this script")

    def test_the_signature_of_another_key_that_claims_to_be_ours_is_refused(self):
        files = release(key="other") | {"install.sh": release()["install.sh"]}
        lines = files["SHA256SUMS.minisig"].splitlines()
        ours = base64.b64decode(release()["SHA256SUMS.minisig"].splitlines()[1])
        lines[1] = base64.b64encode(ours[:10] + base64.b64decode(lines[1])[10:])
        files["SHA256SUMS.minisig"] = b"\n".join(lines) + b"\n"
        self.everywhere(files, "not signed with the key of this script")

    def test_another_release_of_ours_is_refused(self):
        # All of the older release under the address of the new one, and the new archive's name with the old content.
        older = old_release()
        older = older | {"install.sh": release()["install.sh"], ARCHIVE: older[f"{folder_of(OLDER)}.tar.gz"]}
        self.everywhere(older, f"is not toolcell {VERSION}")

    def test_a_trusted_comment_that_was_changed_is_refused(self):
        older = old_release()["SHA256SUMS.minisig"].replace(b"toolcell 1.0.0", b"toolcell 1.1.0")
        files = release() | {"SHA256SUMS.minisig": older, "SHA256SUMS": old_release()["SHA256SUMS"]}
        self.everywhere(files, "not signed with the key of this script")

    def test_a_comment_of_another_signature_of_ours_is_refused(self):
        # Both signatures are ours, and belong to two files.
        lines = old_release()["SHA256SUMS.minisig"].splitlines()[:2] + release()["SHA256SUMS.minisig"].splitlines()[2:]
        files = old_release() | {"SHA256SUMS.minisig": b"\n".join(lines) + b"\n", "install.sh": release()["install.sh"]}
        self.everywhere(files, "not signed with the key of this script")

    def test_a_signature_of_the_old_format_is_refused(self):
        file = self.home / "SHA256SUMS"
        file.write_bytes(release()["SHA256SUMS"])
        command = ["minisign", "-S", "-l", "-s", KEY, "-t", f"toolcell {VERSION}", "-m", file]
        subprocess.run(command, check=True, capture_output=True)
        files = release() | {"SHA256SUMS.minisig": (self.home / "SHA256SUMS.minisig").read_bytes()}
        self.everywhere(files, "not signed with the key of this script")

    def test_a_damaged_signature_is_refused(self):
        whole = release()["SHA256SUMS.minisig"]
        lines = whole.splitlines(keepends=True)
        damaged = [b"", b"\n\n\n\n", b"\x00" * 300, lines[0], b"".join(lines[:3]), b"".join(lines[:2] + [b"\n"] + lines[3:])]
        damaged += [whole.replace(b"trusted comment: toolcell", b"trusted comment: toolcell\x1b[2J"), whole[:-4] + b"\n"]
        for signature in damaged:
            with self.subTest(signature=signature):
                self.everywhere(release() | {"SHA256SUMS.minisig": signature}, "(not signed with the key of|is not toolcell)")

    def test_what_is_not_there_is_named(self):
        for name in ["SHA256SUMS", "SHA256SUMS.minisig", ARCHIVE]:
            files = {other: data for other, data in release().items() if other != name}
            self.everywhere(files, f"cannot fetch http://127.0.0.1:[0-9]+/{name} .*404.*check the network, and the address")

    def test_a_server_that_is_not_there_is_named(self):
        with Server({}) as server:
            url = server.url
        self.everywhere(release(), "cannot fetch .*([Rr]efused|connect to).*check the network", url=url)

    def test_a_slow_server_is_given_up(self):
        # curl gives up after a twentieth of the time without progress, and wget after all of it.
        files = release() | {ARCHIVE: dribble}
        for seconds, machine in [(20, toolbox("curl", "openssl")), (1, toolbox("wget", "timeout", "openssl"))]:
            self.refuses(files, "TOOLCELL_TIMEOUT.*(slow|long)", path=machine, env={"TOOLCELL_TIMEOUT": str(seconds)})
        busybox = toolbox("wget", "timeout", "openssl", busybox=True)
        self.refuses(files, "TOOLCELL_TIMEOUT", path=busybox, env={"TOOLCELL_TIMEOUT": "1"})

    def test_a_silent_server_is_given_up(self):
        files = release() | {"SHA256SUMS": silent}
        self.everywhere(files, "TOOLCELL_TIMEOUT.*check the network", env={"TOOLCELL_TIMEOUT": "1"})
        # Long before the time is over that all of a download may take.
        for client in CLIENTS.values():
            says = "(timed out|too slow)"
            self.refuses(files, says, path=toolbox(*client, "minisign"), env={"TOOLCELL_TIMEOUT": "20"})

    def test_a_download_ends_after_its_time_even_if_it_goes_on(self):
        self.everywhere(release() | {ARCHIVE: steady}, "(timed out|too long)", env={"TOOLCELL_TIMEOUT": "1"})

    def test_a_file_without_end_is_given_up(self):
        for answer in endless, huge:
            for name in "SHA256SUMS", "SHA256SUMS.minisig":
                self.everywhere(release() | {name: answer}, f"cannot fetch .*/{name} .*64 KiB.*: .*(file|File|writing)")
        for client in CLIENTS.values():
            self.refuses(release() | {ARCHIVE: endless}, "65536 KiB", path=toolbox(*client, "openssl"))
        # curl sees it before it begins.
        self.refuses(release() | {ARCHIVE: huge}, "Maximum file size")

    def test_https_does_not_lead_to_http(self):
        pem = self.home / "server.pem"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
        command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pem, "-out", self.home / "cert"]
        subprocess.run(command, check=True, capture_output=True)
        pem.write_bytes(pem.read_bytes() + (self.home / "cert").read_bytes())
        (self.home / "wgetrc").write_text(f"ca_certificate = {self.home}/cert\n")
        trusted = {"CURL_CA_BUNDLE": str(self.home / "cert"), "WGETRC": str(self.home / "wgetrc")}
        plain = self.serve(release())
        secure = self.serve(release(), certificate=pem)
        for client in CLIENTS.values():
            path = toolbox(*client, "minisign")
            for name in ["SHA256SUMS", ARCHIVE]:
                downgrade = self.serve(release() | {name: redirect(f"{plain.url}/{name}")}, certificate=pem)
                self.refuses(release(), "(redirects to plain http|\"http\" not supported)", path=path, url=downgrade.url, env=trusted)
            # From https to https it is followed: the refusal above is not about the certificate.
            moved = {name: redirect(f"{secure.url}/{name}") for name in release()}
            self.install(release(), server=self.serve(moved, certificate=pem), path=path, env=trusted)
            self.uninstall()
            self.install(old_release())

    def test_other_addresses_than_https_are_refused_before_anything_is_fetched(self):
        fetched = self.home / "fetched"
        path = replaced(self.toolbox, "curl", f"echo > '{fetched}'")
        addresses = ["http://example.com/x", "http://127.0.0.1.example.com/", "http://localhost@example.com/", "ftp://127.0.0.1/"]
        addresses += ["http://127.0.0.1:80@example.com/", "file:///etc", "example.com", "-o/etc/x", "HTTP://example.com", ""]
        for shell in SHELLS:
            for url in addresses:
                with self.subTest(shell=shell, url=url):
                    says = "is not https: set TOOLCELL_RELEASE_URL"
                    self.refuses(release(), says, path=path, url=url, shell=shell)
        self.assertFalse(fetched.exists())

    # What is in the archive, if the key that signs falls into the wrong hands.

    def test_members_that_are_no_files_of_the_folder_are_refused(self):
        top = folder_of(VERSION)
        links = {"linkname": "/etc/passwd"}
        bad = {
            "parent": member("../evil", "x"),
            "parent below": member(f"{top}/bin/../../../evil", "x"),
            "parent at the end": member(f"{top}/bin/..", type=tarfile.DIRTYPE),
            "absolute": member(f"{WORK}/evil", "x"),
            "symlink": member(f"{top}/share/link", type=tarfile.SYMTYPE, **links),
            "symlink to the outside": member(f"{top}/share/man/x", type=tarfile.SYMTYPE, linkname="../../.."),
            "hard link": member(f"{top}/share/hard", type=tarfile.LNKTYPE, **links),
            "hard link inside": member(f"{top}/share/hard", type=tarfile.LNKTYPE, linkname=f"{top}/bin/toolcell"),
            "pipe": member(f"{top}/share/pipe", type=tarfile.FIFOTYPE),
            "device": member(f"{top}/share/device", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
            "another folder": member("toolcell-9.9.9/bin/x", "x"),
            "beside bin and share": member(f"{top}/etc/x", "x"),
            "hidden": member(f"{top}/share/.profile", "x"),
            "space": member(f"{top}/share/a b", "x"),
            "arrow": member(f"{top}/share/a -> b", "x"),
            "new line": member(f"{top}/share/a\n{top}/share/b", "x"),
            "option": member(f"{top}/share/-rf", "x"),
            "pattern": member(f"{top}/share/*", "x"),
        }
        for what, evil in bad.items():
            files = release(archive=archive_of([*members_of(VERSION, payload(VERSION)), evil]))
            for tools in [toolbox("curl", "minisign"), toolbox("curl", "minisign", busybox=True)]:
                with self.subTest(what=what, tools=tools):
                    self.refuses(files, "unsafe members|is damaged", path=tools)
        self.assertEqual([path for path in [WORK / "evil", self.home / "evil"] if path.exists()], [])

    def test_an_archive_without_the_program_is_refused(self):
        without = {name: text for name, text in payload(VERSION).items() if name != "bin/toolcell"}
        for archive in archive_of(members_of(VERSION, without)), archive_of([]), b"no archive", b"":
            with self.subTest(archive=archive[:20]):
                self.everywhere(release(archive=archive), f"{ARCHIVE} (does not unpack|is damaged)")

    def test_a_program_that_does_not_run_here_is_refused(self):
        broken = "#!/bin/sh\necho no such libc >&2\nexit 1\n"
        files = release(files=tuple(payload(VERSION, **{"bin/toolcell": broken, "share/new/x": "x"}).items()))
        for shell in SHELLS:
            self.refuses(files, r"does not run here \(no such libc\)", shell=shell, times=False)

    def test_a_program_that_is_another_one_is_refused(self):
        for said in (f"toolcell {OLDER}", f"toolcell {VERSION}0", f"toolcell {VERSION}\nand more", "another 1.1.0", ""):
            program = f"#!/bin/sh\nprintf '%s\\n' '{said}'\n"
            files = release(files=tuple(payload(VERSION, **{"bin/toolcell": program, "share/new/x": "x"}).items()))
            for shell in SHELLS:
                with self.subTest(said=said, shell=shell):
                    first = said.split("\n")[0]
                    says = f"the program in {ARCHIVE} is not toolcell {VERSION}, it says {first}: report it; nothing was changed"
                    self.refuses(files, says, shell=shell, times=False)

    def test_an_archive_of_very_many_members_is_refused(self):
        members = [*members_of(VERSION, payload(VERSION))]
        members += [member(f"{folder_of(VERSION)}/share/{number}", mode=0o755, type=tarfile.DIRTYPE) for number in range(501 - len(members))]
        self.everywhere(release(archive=archive_of(members)), f"{ARCHIVE} is damaged, or has more than 500 members: report it")
        self.install(release(archive=archive_of(members[:-1])))

    def test_a_very_large_member_is_refused(self):
        class Zeros:
            def read(self, size):
                return bytes(size)

        huge = tarfile.TarInfo(f"{folder_of(VERSION)}/share/huge")
        huge.size = (256 << 20) + 1
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:gz", compresslevel=1) as archive:
            for info, text in members_of(VERSION, payload(VERSION)):
                archive.addfile(info, io.BytesIO(text))
            archive.addfile(huge, Zeros())
        files = release(archive=data.getvalue())
        for shell, path in ("dash", self.toolbox), ("busybox", toolbox("curl", "minisign", busybox=True)):
            self.refuses(files, f"{ARCHIVE} does not unpack in .*: make room, or report it", shell=shell, path=path)

    def test_a_release_without_this_machine_is_named(self):
        files = release(name="toolcell-1.1.0-riscv64-linux.tar.gz")
        self.everywhere(files, f"toolcell {VERSION} has no {ARCHIVE}: build it from its sources")

    # What the machine is.

    def test_other_systems_are_refused_before_anything_is_fetched(self):
        server = self.serve(release())
        for system, machine in [("Darwin", "arm64"), ("Linux", "riscv64"), ("Linux", "i686"), ("FreeBSD", "x86_64")]:
            script = f'[ "$1" = -sm ] && echo {system} {machine} || echo {machine}'
            says = f"Linux on x86_64 and aarch64, this is {system} {machine}: build toolcell from its sources"
            self.refuses(release(), says, path=replaced(self.toolbox, "uname", script), url=server.url)
        self.assertEqual(server.requests, [])

    def test_missing_tools_are_named_before_anything_is_fetched(self):
        server = self.serve(release())
        for shell in SHELLS:
            self.refuses(release(), "neither curl nor wget: install", shell=shell, path=toolbox("minisign"), url=server.url)
            says = "install minisign or openssl 3"
            self.refuses(release(), says, shell=shell, path=toolbox("curl"), url=server.url)
            old = replaced(toolbox("curl"), "openssl", "echo 'Usage: pkeyutl [options]' >&2")
            self.refuses(release(), says, shell=shell, path=old, url=server.url)
        self.assertEqual(server.requests, [])

    def test_an_openssl_without_the_hash_sends_its_user_to_minisign(self):
        real = shutil.which("openssl")
        path = replaced(toolbox("curl", "openssl"), "openssl", f'[ "$1" != dgst ] || exit 1; exec {real} "$@"')
        self.refuses(release(), "install minisign", path=path)

    def test_options_and_settings_that_make_no_sense_are_named(self):
        server = self.serve(release())
        for shell in SHELLS:
            self.refuses(release(), "there is no option --purge: .*--remove", "--purge", shell=shell, url=server.url)
            self.refuses(release(), "--prefix needs a folder", "--prefix", shell=shell, url=server.url)
            self.refuses(release(), "--prefix needs a folder", "--prefix", "", shell=shell, url=server.url)
            for seconds in "abc", "0", "-1", "1e3", "a[$(echo x >&2)]", " 1":
                says = "TOOLCELL_TIMEOUT is .*: it takes whole seconds"
                self.refuses(release(), says, shell=shell, url=server.url, env={"TOOLCELL_TIMEOUT": seconds})
        self.assertEqual(server.requests, [])

    def test_a_folder_for_temporary_files_that_is_not_there_is_named(self):
        self.refuses(release(), "set TMPDIR", env={"TMPDIR": str(self.home / "none")})

    def test_the_template_installs_nothing(self):
        for shell in SHELLS:
            with Server(release()) as server:
                self.refuses(release(), "not signed with the key", script=TEMPLATE.read_bytes(), url=server.url, shell=shell)
                self.refuses(release(), "@URL@ is not https", script=TEMPLATE.read_bytes(), url=None, shell=shell)

    # What is in the prefix.

    def test_only_copies_of_killed_runs_are_removed_beside_the_files(self):
        places = ["bin/toolcell", "share/toolcell/installed", "share/old/page"]
        # The last one is of a file that the new release does not have.
        mine = [f"{place}.toolcell.{ending}" for place in places for ending in ("txt", "1.txt", "12a", "1.2", "")]
        mine += ["bin/toolcell.1", "bin/toolcell.toolcell", "bin/toolcell.toolcellx1", "bin/mine.toolcell.1"]
        left = [f"{place}.toolcell.{number}" for place in places for number in ("1", "4194304")]
        for shell in SHELLS:
            with self.subTest(shell=shell):
                self.with_an_older_one()
                for name in [*mine, *left]:
                    (self.prefix / name).write_text("text\n")
                self.install(release(), shell=shell)
                self.assertEqual([name for name in [*mine, *left] if (self.prefix / name).exists()], mine)
                for name in left[:4]:
                    (self.prefix / name).write_text("text\n")
                self.uninstall(shell=shell)
                self.assertEqual([name for name in names(self.prefix) if (self.prefix / name).is_file()], sorted([*mine, "share/mine/notes"]))

    def test_files_of_the_user_are_not_replaced(self):
        new = tuple(payload(VERSION, **{"bin/toolcell-extra": "new\n"}).items())
        place = self.prefix / "bin/toolcell-extra"
        makers = [lambda: place.write_text("mine\n"), lambda: place.symlink_to("/etc/passwd"), place.mkdir]
        makers += [lambda: place.symlink_to("nowhere"), lambda: os.mkfifo(place)]
        for make in makers:
            for shell in SHELLS:
                make()
                says = f"{place} is not from this script: move it, or choose another --prefix"
                self.refuses(release(files=new), says, shell=shell)
                place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()

    def test_a_program_that_the_user_built_in_our_place_is_not_replaced(self):
        (self.prefix / "bin/toolcell").write_text("built by the user\n")
        self.everywhere(release(), "bin/toolcell is not from this script")

    def test_without_a_manifest_the_same_files_are_not_ours(self):
        (self.prefix / "share/toolcell/installed").unlink()
        self.refuses(release(), "is not from this script")

    def test_a_file_where_a_folder_has_to_be_is_refused(self):
        shutil.rmtree(self.prefix / "share/zsh")
        (self.prefix / "share/zsh").write_text("mine\n")
        for shell in SHELLS:
            self.refuses(release(), "choose another --prefix", shell=shell, times=False)

    def test_a_copy_that_fails_leaves_nothing_behind(self):
        new = tuple(payload(VERSION, **{"share/new/deep/x": "x"}).items())
        count = self.home / "count"
        for shell in SHELLS:
            for failing in range(1, 7):
                count.write_text("0")
                script = f"n=$(($(cat '{count}') + 1)); echo $n > '{count}'; [ $n != {failing} ] || exit 1\n"
                path = replaced(self.toolbox, "cp", f'{script}exec {shutil.which("cp")} "$@"')
                with self.subTest(shell=shell, failing=failing):
                    self.refuses(release(files=new), "make room, or choose another --prefix", shell=shell, path=path, times=False)

    def test_a_prefix_that_cannot_be_written_is_named_before_anything_is_fetched(self):
        server = self.serve(release())
        closed = self.home / "closed"
        (closed / "bin").mkdir(parents=True)
        enter = []
        if os.getuid() == 0:
            enter = [shutil.which("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        else:
            (closed / "bin").chmod(0o555)
        for shell in SHELLS:
            for prefix, place in [(closed, closed / "bin"), (self.home / "closed/bin/new", closed / "bin"), ("/proc/x", "/proc")]:
                says = f"cannot write to {place}/: choose another folder with --prefix"
                self.refuses(release(), says, "--prefix", prefix, shell=shell, enter=enter, url=server.url)
                self.assertEqual(names(closed), [".", "bin"])
        self.assertEqual(server.requests, [])

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_a_folder_of_the_prefix_that_cannot_be_written_leaves_nothing_behind(self):
        prefix = self.home / "mixed"
        for folder in prefix, prefix / "share", prefix / "bin":
            folder.mkdir()
            os.chown(folder, NOBODY, NOBODY)
        (prefix / "share/zsh").mkdir()
        before = tree(prefix)
        enter = [shutil.which("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        for shell in SHELLS:
            errors = self.refuses(release(), "--prefix", "--prefix", prefix, shell=shell, enter=enter)
            self.assertIn("share/zsh/site-functions", errors)
            self.assertEqual(tree(prefix), before)


class Interrupted(InstallCase):
    def test_a_part_of_the_script_does_nothing(self):
        self.with_an_older_one()
        script = release()["install.sh"].rstrip(b"\n")
        begins = script.index(b"\n{\n") + 3
        before = tree(self.prefix, times=True)
        server = self.serve(release())
        for shell in SHELLS:
            # The last bytes one by one: a call without its arguments would be the worst part.
            for end in [*range(0, len(script), 100), *range(len(script) - 60, len(script))]:
                with self.subTest(shell=shell, end=end):
                    status, output, _ = self.run_script(script[:end], "--prefix", self.prefix, shell=shell, url=server.url)
                    self.assertEqual(output, "")
                    if end >= begins:
                        self.assertNotEqual(status, 0)
        self.assertEqual(tree(self.prefix, times=True), before)
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertEqual(server.requests, [])

    def test_a_signal_during_the_download_ends_it_and_leaves_nothing(self):
        self.with_an_older_one()
        before = tree(self.prefix, times=True)
        for shell in SHELLS:
            for client in CLIENTS.values():
                for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
                    with self.subTest(shell=shell, client=client, signal=number), Server(release() | {ARCHIVE: silent}) as server:
                        process = self.start(
                            release()["install.sh"], "--prefix", self.prefix,
                            shell=shell, path=toolbox(*client, "minisign"), url=server.url, start_new_session=True,
                        )  # fmt: skip
                        self.assertTrue(server.hangs.wait(SECONDS))
                        if number == signal.SIGINT:
                            os.killpg(process.pid, number)
                        else:
                            process.send_signal(number)
                        output, errors = process.communicate(timeout=SECONDS)
                        self.assertNotEqual(process.returncode, 0)
                        self.assertEqual(output, b"")
                        self.assertIn(b"interrupted; nothing was changed", errors)
                        # The program that downloads is ended as well.
                        self.assertTrue(server.left.wait(SECONDS))
                        self.assertEqual(tree(self.prefix, times=True), before)
                        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_signal_during_the_copy_ends_it_and_leaves_nothing(self):
        self.with_an_older_one()
        before = tree(self.prefix)
        started = self.home / "started"
        os.mkfifo(started)
        real, sleep = shutil.which("cp"), shutil.which("sleep")
        # One of the files is copied, and then the disk hangs.
        path = replaced(self.toolbox, "cp", f"case $1 in *LICENSE) {real} \"$@\"; echo > '{started}'; exec {sleep} 600 ;; esac; exec {real} \"$@\"")
        files = release(files=tuple(payload(VERSION, **{"share/new/deep/x": "x"}).items()))
        server = self.serve(files)
        for shell in SHELLS:
            for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
                with self.subTest(shell=shell, signal=number):
                    process = self.start(
                        files["install.sh"], "--prefix", self.prefix, shell=shell, path=path, url=server.url, start_new_session=True
                    )
                    try:
                        started.read_text()
                        self.assertIn("share/new/deep", names(self.prefix))
                        if number == signal.SIGINT:
                            os.killpg(process.pid, number)
                        else:
                            process.send_signal(number)
                        # The program that copies is ended as well: it would hold these open.
                        output, errors = process.communicate(timeout=10)
                    finally:
                        with contextlib.suppress(ProcessLookupError):
                            os.killpg(process.pid, signal.SIGKILL)
                    self.assertNotEqual(process.returncode, 0)
                    self.assertEqual(output, b"")
                    self.assertIn(b"interrupted; nothing was changed", errors)
                    self.assertEqual(tree(self.prefix), before)
                    self.assertEqual(list(self.temporary.iterdir()), [])

    def test_killed_at_any_rename_the_program_is_the_old_or_the_new_one_and_the_next_run_completes(self):
        count = self.home / "count"
        server = self.serve(release())
        programs = [payload(version)["bin/toolcell"] for version in (OLDER, VERSION)]
        for moment in range(1, 20):
            self.with_an_older_one()
            count.write_text("0")
            script = f"n=$(($(cat '{count}') + 1)); echo $n > '{count}'\n"
            script += f'[ $n != {moment} ] || {{ kill -9 $PPID; exit 1; }}\nexec {shutil.which("mv")} "$@"'
            path = replaced(self.toolbox, "mv", script)
            status, _, _ = self.run_script(release()["install.sh"], "--prefix", self.prefix, path=path, url=server.url)
            self.assertIn((self.prefix / "bin/toolcell").read_text(), programs)
            if status == 0:
                break
            self.assertEqual(status, -signal.SIGKILL)
            shutil.rmtree(next(self.temporary.iterdir()))
            # Completed before, or removed at once: nothing is left of it either way.
            if moment % 2:
                self.install(release())
                self.assertEqual(self.version_in(self.prefix), f"toolcell {VERSION}")
                self.assertEqual([name for name in names(self.prefix) if ".toolcell." in name], [])
            self.uninstall()
            self.assertEqual(names(self.prefix), [".", "share", "share/mine", "share/mine/notes"])
        # The manifest twice, and each of the files.
        self.assertEqual(moment - 1, len(payload(VERSION)) + 2)


class Signs(unittest.TestCase):
    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory(dir=WORK)))

    # The files of a release, in the order of their names.
    FILES = (
        "toolcell-1.1.0-aarch64-linux.tar.gz", "toolcell-1.1.0-cp310-abi3-manylinux_2_34_x86_64.whl", "toolcell-1.1.0-x86_64-linux.cdx.json",
        "toolcell-1.1.0-x86_64-linux.tar.gz", "toolcell-1.1.0-x86_64-oci.tar", "toolcell-1.1.0.tgz",
        "toolcell-images-1.1.0-x86_64-linux.tar.gz", "toolcell-linux-x64-gnu-1.1.0.tgz",
        "toolcell_1.1.0_amd64.deb",
    )  # fmt: skip
    ARCHIVES = tuple(name for name in FILES if name.endswith(".tar.gz"))

    def out(self, name, files=FILES):
        out = self.work / name
        out.mkdir()
        for file in reversed(files):
            (out / file).write_text(f"content of {file}\n")
        return out

    def test_the_same_files_and_key_give_the_same_bytes(self):
        url = "https://example.com/toolcell/v1.1.0"
        made = ["SHA256SUMS", "B3SUMS", "SHA256SUMS.minisig", *(f"{name}.minisig" for name in self.ARCHIVES), "install.sh"]
        results = []
        for name, mask in [("one", 0o022), ("another folder", 0o077)]:
            out = self.out(name)
            if results:
                os.utime(out / self.ARCHIVES[0], (1, 1))
            done = sign(out, VERSION, KEY, url, preexec_fn=lambda mask=mask: os.umask(mask))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            results.append({name: ((out / name).read_bytes(), (out / name).stat().st_mode) for name in made})
        self.assertEqual(results[0], results[1])

    def test_the_sums_and_signatures_are_right(self):
        out = self.out("out")
        self.assertEqual(sign(out, VERSION, KEY).returncode, 0)
        for command, file in [("sha256sum", "SHA256SUMS"), ("b3sum", "B3SUMS")]:
            subprocess.run([command, "--check", file], cwd=out, check=True, capture_output=True)
            listed = [line.split("  ")[1] for line in (out / file).read_text().splitlines()]
            self.assertEqual(listed, list(self.FILES))
        for file in "SHA256SUMS", *self.ARCHIVES:
            command = ["minisign", "-V", "-H", "-Q", "-P", PUBLIC_KEY, "-m", out / file]
            comment = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            self.assertEqual(comment, f"toolcell {VERSION}\n")

    def test_signing_again_signs_what_is_there_now(self):
        out = self.out("out")
        sign(out, VERSION, KEY)
        before = {file.name: file.read_bytes() for file in out.iterdir()}
        sign(out, VERSION, KEY)
        self.assertEqual({file.name: file.read_bytes() for file in out.iterdir()}, before)
        gone = self.ARCHIVES[1]
        (out / gone).unlink()
        sign(out, VERSION, KEY)
        self.assertFalse((out / f"{gone}.minisig").exists())
        self.assertNotIn(gone, (out / "SHA256SUMS").read_text())

    def test_without_a_key_there_are_the_same_sums_and_no_script(self):
        out = self.out("out")
        sign(out, VERSION, KEY)
        sums = (out / "SHA256SUMS").read_bytes()
        done = sign(out, VERSION, None)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "without TOOLCELL_SIGNING_KEY there are no signatures, and no install.sh")
        self.assertEqual((out / "SHA256SUMS").read_bytes(), sums)
        self.assertEqual([file.name for file in out.iterdir() if file.name == "install.sh" or file.suffix == ".minisig"], [])

    def test_a_key_with_a_password_takes_it_from_stdin(self):
        secret, public = self.work / "secret", self.work / "public"
        command = ["minisign", "-G", "-s", secret, "-p", public]
        subprocess.run(command, check=True, capture_output=True, input="pass word\npass word\n", text=True)
        out = self.out("out")
        done = sign(out, VERSION, secret, input="pass word\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(public.read_text().splitlines()[1], (out / "install.sh").read_text())
        before = {file.name: file.read_bytes() for file in out.iterdir()}
        self.assertNotEqual(sign(out, VERSION, secret, input="another\n").returncode, 0)
        self.assertEqual({file.name: file.read_bytes() for file in out.iterdir()}, before)

    def test_what_cannot_be_signed_changes_nothing(self):
        def link(out):
            (out / "link").symlink_to("/etc/passwd")

        def folder(out):
            (out / "folder").mkdir()

        def new_line(out):
            (out / "a\nb").write_text("x")

        def hidden(out):
            (out / ".hidden").write_text("x")

        def nothing(out):
            pass

        cases = [
            (link, KEY, "", "link is not a plain file"),
            (folder, KEY, "", "folder is not a plain file"),
            (new_line, KEY, "", "has a name that checksums cannot hold"),
            (hidden, KEY, "", "has a name that checksums cannot hold"),
            (nothing, self.work / "none", "", "none"),
            (nothing, SIGN, "", "is not a secret key of minisign"),
            (nothing, KEY, "http://example.com/", "TOOLCELL_RELEASE_URL is .* an https address"),
            (nothing, KEY, "https://example.com/$(id)", "TOOLCELL_RELEASE_URL"),
            (nothing, KEY, "https://example.com/}; id; :", "TOOLCELL_RELEASE_URL"),
            (nothing, KEY, "https://example.com/|&\\", "TOOLCELL_RELEASE_URL"),
        ]
        for number, (change, key, url, says) in enumerate(cases):
            with self.subTest(says=says, url=url):
                out = self.out(f"out{number}")
                change(out)
                before = tree(out, times=True)
                done = sign(out, VERSION, key, url)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, says)
                self.assertEqual(tree(out, times=True), before)
        self.assertRegex(sign(self.work / "nowhere", VERSION, KEY).stderr, "there is no folder .*make dist")

    def test_a_key_in_the_folder_that_is_published_is_refused(self):
        out = self.out("out")
        secret = out / "key.minisig"
        shutil.copy(KEY, secret)
        (self.work / "link").symlink_to(secret)
        before = tree(out, times=True)
        for key in secret, self.work / "link", self.work / "out/../out/key.minisig":
            done = sign(out, VERSION, key)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"the signing key {secret} is in {out}, all of which is published: move it to another folder", done.stderr)
            self.assertEqual(tree(out, times=True), before)
        # A folder beside it, whose name begins in the same way, is another one.
        (self.work / "out2").mkdir()
        shutil.move(secret, self.work / "out2/key")
        self.assertEqual(sign(out, VERSION, self.work / "out2/key").returncode, 0)

    def test_a_file_of_another_version_is_refused(self):
        names = [name.replace(VERSION, "1.1.0-rc1") for name in self.FILES]
        names += [self.FILES[0].replace(VERSION, other) for other in ("1.0.0", "11.1.0", "1.1.01", "1x1.0", "1.1.0-rc.1")]
        names += ["toolcell-1.1.0rc1-cp310-abi3-any.whl", "key", f"old-{self.FILES[0]}", f"{self.FILES[0]}.part"]
        out = self.out("out")
        for name in names:
            with self.subTest(name):
                (out / name).write_text("left")
                before = tree(out, times=True)
                done = sign(out, VERSION, KEY)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"{out / name} is no file of toolcell {VERSION}, perhaps of an older build: remove it, or move it away", done.stderr)
                self.assertEqual(tree(out, times=True), before)
                (out / name).unlink()
        self.assertEqual(sign(out, VERSION, KEY).returncode, 0)

    def test_a_candidate_of_a_release_is_signed(self):
        # The version as Python writes it, and as everything else does.
        for version, wheel in [("1.1.0-rc.1", "1.1.0rc1"), ("1.1.0-beta.2", "1.1.0b2"), ("1.1.0-alpha3", "1.1.0a3")]:
            files = [name.replace(VERSION, wheel if name.endswith(".whl") else version) for name in self.FILES]
            done = sign(self.out(version, files), version, KEY)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_missing_is_named_and_not_installed(self):
        asked = self.work / "asked"
        installer = f"echo asked > '{asked}'"
        needed = "bash env realpath dirname sed mktemp b3sum minisign chmod ln sh".split()
        path = replaced(replaced(toolbox(*needed), "apt-get", installer), "apt", installer)
        out = self.out("out")
        before = tree(out, times=True)
        for missing in "b3sum", "minisign":
            shutil.move(path / missing, self.work / missing)
            done = sign(out, VERSION, KEY, path=path)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"{missing} is missing: install it (Debian, Ubuntu: apt-get install {missing})", done.stderr)
            self.assertEqual(tree(out, times=True), before)
            shutil.move(self.work / missing, path / missing)
        # All that it needs is there otherwise.
        self.assertEqual(sign(out, VERSION, KEY, path=path).returncode, 0)
        self.assertFalse(asked.exists())

    def test_the_version_is_that_of_the_workspace(self):
        out = self.out("out", [name.replace(VERSION, packed.version()) for name in self.FILES])
        environment = os.environ | {"TOOLCELL_SIGNING_KEY": str(KEY)}
        subprocess.run([SIGN, out], env=environment, check=True, capture_output=True, timeout=SECONDS)
        version = re.search(r'^\[workspace\.package\]\n(?:[^\[].*\n)*?version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
        self.assertIn(f"\nversion={version}\n", (out / "install.sh").read_text())

    def test_the_script_is_short_and_plain(self):
        lines = TEMPLATE.read_text().splitlines()
        self.assertLessEqual(len(lines), 100)
        for line in "version=@VERSION@", "key=@PUBLIC_KEY@", "url=${TOOLCELL_RELEASE_URL:-@URL@}":
            self.assertIn(line, lines)


class RealRelease(InstallCase):
    def test_the_archive_of_the_release_installs_and_runs(self):
        out = self.home / "out"
        out.mkdir()
        # A release that is signed is taken as it is; what is only packed is signed with a key of the tests.
        dist = packed.archive().parent
        signed = (dist / "install.sh").exists()
        for name in ["install.sh", "SHA256SUMS", "SHA256SUMS.minisig"] if signed else []:
            shutil.copy(dist / name, out)
        shutil.copy(packed.archive(), out)
        if not signed:
            self.assertEqual(sign(out, packed.version(), KEY).returncode, 0)
        files = {file.name: file.read_bytes() for file in out.iterdir()}
        for path in toolbox("curl", "minisign"), toolbox("wget", "timeout", "openssl", busybox=True):
            with self.subTest(path=path):
                self.install(files, path=path)
                self.assertEqual(self.version_in(self.prefix), f"toolcell {packed.version()}")
                self.uninstall()
                self.assertFalse(self.prefix.exists())


if __name__ == "__main__":
    unittest.main()
