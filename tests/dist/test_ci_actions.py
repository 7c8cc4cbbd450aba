"""What others put into their CI, and what makes a release from a tag: .github/, .gitlab/ and fixtures/ci/.

The action and the GitLab job are run, not only read: a small runner below does what those of GitHub and GitLab do with the parts of
their languages that are used here, and refuses the others. Releases come from a server on this machine.
"""
import contextlib
import functools
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree
from pathlib import Path

import packed

ROOT = packed.REPOSITORY
ACTION = ROOT / ".github/actions/toolcell"
COMPONENT = ROOT / ".gitlab/toolcell.yml"
RELEASE = ROOT / ".github/workflows/release.yml"
VERSION = packed.version()
NAME = f"toolcell-{VERSION}-{packed.ARCH}-linux.tar.gz"
# Which text of the action stands in which part of the GitLab job.
SHARED = {"before_script": "setup.sh", "script": "test.sh"}


@functools.cache
def environment():
    """The folder of an environment with the checkers, which come from the registry, by their hashes."""
    requirements = Path(__file__).with_name("requirements.txt")
    digest = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:16]
    kept = packed.CACHE / "packages" / f"dist-{digest}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        # Another run may be doing the same: the folder is filled beside its place, and then put there at once.
        new = Path(tempfile.mkdtemp(prefix="new.", dir=kept.parent))
        try:
            packed.run(sys.executable, "-m", "venv", new)
            packed.run(new / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes",
                       "--only-binary", ":all:", "--requirement", requirements)
            with contextlib.suppress(OSError):
                new.rename(kept)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return kept


def check(program, *arguments):
    """Runs a checker of the environment by its module or file: its scripts name the folder that it was made in."""
    bin = environment() / "bin"
    command = [bin / "zizmor"] if program == "zizmor" else [bin / "python", "-m", program]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def documents(text):
    (packages,) = environment().glob("lib/python*/site-packages")
    if str(packages) not in sys.path:
        sys.path.append(str(packages))
    from ruamel.yaml import YAML  # noqa: PLC0415

    return list(YAML(typ="safe", pure=True).load_all(text))


def document(path):
    (only,) = documents(path.read_text())
    return only


def strings(node):
    if isinstance(node, str):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from strings(child)


def steps(workflow):
    """The steps of a workflow or a composite action, each with the name of its job."""
    jobs = workflow["jobs"] if "jobs" in workflow else {"action": workflow["runs"]}
    return [(name, step) for name, job in jobs.items() for step in job["steps"]]


@functools.cache
def archive():
    """The archive of a release: of the one that is tested, or made here from the binary that the other tests run."""
    if os.environ.get("TOOLCELL_DIST"):
        return packed.archive().read_bytes()
    built = Path(os.environ.get("CARGO_TARGET_DIR") or packed.CACHE) / "debug/toolcell"
    if not built.is_file():
        raise AssertionError(f"there is no {built}: cargo build --workspace --bins --locked, or TOOLCELL_DIST=FOLDER names a release")
    stripped = packed.SCRATCH / "toolcell of the action"
    packed.run("strip", "-o", stripped, built)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as tar:
        tar.add(stripped, f"{NAME.removesuffix('.tar.gz')}/bin/toolcell")
    return stream.getvalue()


@functools.cache
def digest():
    return hashlib.sha256(archive()).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves bytes by path on the loopback interface, and counts what is asked for."""

    def __init__(self, files):
        self.files, self.asked = files, []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        body = self.server.files.get(self.path)
        if body is None:
            return self.send_error(404)
        self.send_response(200)
        if callable(body):
            self.end_headers()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                body(self)
            return
        # Of what is cut, the length is that of the whole.
        body, length = body if isinstance(body, tuple) else (body, len(body))
        self.send_header("Content-Length", str(length))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


def huge(handler):
    """More than a client should take, of a size that is not announced."""
    for _ in range(300):
        handler.wfile.write(bytes(1 << 20))


def steady(handler):
    """Fast enough to look alive, for longer than a client should wait."""
    for _ in range(100):
        handler.wfile.write(bytes(5000))
        time.sleep(0.1)


class Expression:
    """GitHub's expressions, as far as they are used here."""

    TOKEN = re.compile(r"\s*('(?:[^']|'')*'|&&|\|\||==|!=|[!()]|[A-Za-z_][\w.-]*)")

    def __init__(self, text, contexts, status):
        self.tokens, at = [], 0
        while text[at:].strip():
            found = self.TOKEN.match(text, at)
            if not found:
                raise AssertionError(f"this runner does not know: {text[at:]}")
            self.tokens.append(found[1])
            at = found.end()
        self.contexts, self.status, self.asks_status = contexts, status, False

    def take(self, *wanted):
        return self.tokens.pop(0) if self.tokens and (not wanted or self.tokens[0] in wanted) else None

    def value(self):
        value = self.either()
        if self.tokens:
            raise AssertionError(f"left over: {self.tokens}")
        return value

    def either(self):
        value = self.both()
        while self.take("||"):
            other = self.both()
            value = value or other
        return value

    def both(self):
        value = self.equal()
        while self.take("&&"):
            other = self.equal()
            value = value and other
        return value

    def equal(self):
        value = self.one()
        while operator := self.take("==", "!="):
            same = str(value).lower() == str(self.one()).lower()
            value = same == (operator == "==")
        return value

    def one(self):
        token = self.take()
        if token == "!":
            return not self.one()
        if token == "(":
            value = self.either()
            assert self.take(")")
            return value
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if self.take("("):
            assert self.take(")")
            self.asks_status = True
            return {"always": True, "cancelled": False, "success": self.status == "success", "failure": self.status == "failure"}[token]
        value = self.contexts
        for part in token.split("."):
            # What is not there is empty.
            value = value.get(part, "") if isinstance(value, dict) else ""
        return value


def filled(text, contexts):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(Expression(found[1], contexts, "success").value()), str(text))


class Job:
    """A run of the action in a workspace, as GitHub's runner does it. `cache` is what actions/cache has stored, by key."""

    def __init__(self, test, inputs, *, repository="", server="https://github.invalid", cache=None, path=None, workspace=None, variables=None):
        self.status, self.log, self.used, self.steps = "success", "", [], {}
        self.workspace = workspace or test.workspace
        self.temp = Path(tempfile.mkdtemp(prefix="runner temp ", dir=test.folder))
        action = document(ACTION / "action.yml")
        declared = action["inputs"]
        unknown = inputs.keys() - declared.keys()
        test.assertFalse(unknown)
        contexts = {
            "inputs": {name: str(inputs.get(name, what.get("default", ""))) for name, what in declared.items()},
            "github": {"action_repository": repository},
            "steps": self.steps,
        }
        self.environment = {
            "PATH": path or "/usr/local/bin:/usr/bin:/bin", "HOME": str(test.folder), "GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": server,
            "RUNNER_TEMP": str(self.temp), "GITHUB_WORKSPACE": str(self.workspace), "GITHUB_ACTION_PATH": str(ACTION),
        } | (variables or {})
        assert action["runs"]["using"] == "composite"
        for number, step in enumerate(action["runs"]["steps"]):
            assert step.keys() <= {"name", "id", "if", "shell", "run", "env", "uses", "with"}, step
            condition = Expression(re.sub(r"^\$\{\{(.*)\}\}$", r"\1", step.get("if", "success()")), contexts, self.status)
            wanted = condition.value() and (condition.asks_status or self.status == "success")
            if not wanted:
                continue
            if "uses" in step:
                given = {name: filled(value, contexts) for name, value in step["with"].items()}
                self.used.append((step["uses"], given))
                if step["uses"].startswith("actions/cache@") and cache is not None and given["key"] in cache:
                    shutil.copytree(cache[given["key"]], given["path"], symlinks=True)
            else:
                self.steps[step.get("id", str(number))] = {"outputs": self.run(step, contexts)}
        if cache is not None and self.status == "success":
            ((_, given),) = [(name, given) for name, given in self.used if name.startswith("actions/cache@")]
            cache.setdefault(given["key"], given["path"])
        self.outputs = {name: filled(output["value"], contexts) for name, output in action["outputs"].items()}

    def run(self, step, contexts):
        files = {name: self.temp / f"file of {name}" for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_ENV")}
        for file in files.values():
            file.write_text("")
        script = self.temp / "step"
        script.write_text(filled(step["run"], contexts))
        given = {name: filled(value, contexts) for name, value in step.get("env", {}).items()}
        shell = {"sh": ["sh", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}[step["shell"]]
        shell[0] = shutil.which(shell[0], path=self.environment["PATH"])
        done = subprocess.run([*shell, script], cwd=self.workspace, env=self.environment | given | {n: str(f) for n, f in files.items()},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.log += done.stdout.decode(errors="replace")
        if done.returncode != 0:
            self.status = "failure"
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.environment["PATH"] = f"{line}:{self.environment['PATH']}"
        assert files["GITHUB_ENV"].read_text() == "", "nothing is set for other steps"
        return dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())

    def uploaded(self, action):
        """What an action was given, or nothing if it did not run."""
        return next((given for name, given in self.used if name.startswith(f"{action}@")), None)

    def junit(self):
        return self.outputs["junit"]

    def sarif(self):
        return self.outputs["sarif"]


def commands(log):
    """The lines of a log that GitHub's runner takes for commands."""
    found, resume = [], None
    for line in log.splitlines():
        # In the middle of a line, only a command of the old form is one.
        line = line.strip()
        if resume:
            resume = None if line == f"::{resume}::" else resume
        elif line.startswith("::stop-commands::"):
            resume = line.removeprefix("::stop-commands::")
        elif line.startswith("::") or "##[" in line:
            found.append(line)
    return found


class GitlabJob:
    """A run of the job in a workspace, as GitLab does it, with a shell. `cache` is a folder that is kept between jobs."""

    def __init__(self, test, inputs, *, shell="sh", cache=None, path="/usr/local/bin:/usr/bin:/bin", workspace=None, variables=None):
        self.workspace = workspace or test.workspace
        self.job = gitlab_job(inputs)
        assert self.job == gitlab_job(inputs, textual=True), "the versions of GitLab make different jobs of this"
        environment = {"PATH": path, "HOME": str(test.folder), "CI_PROJECT_DIR": str(self.workspace)} | (variables or {})
        for name, value in self.job["variables"].items():
            if isinstance(value, dict):
                assert value.keys() == {"value", "expand"} and value["expand"] is False
                environment[name] = value["value"]
            else:
                environment[name] = re.sub(r"\$(\w+)|\$\{(\w+)\}", lambda found: environment.get(found[1] or found[2], ""), value)
        (self.cached,) = (self.workspace / folder for folder in self.job["cache"]["paths"])
        shutil.rmtree(self.workspace / ".toolcell-ci", ignore_errors=True)
        if cache is not None and cache.exists():
            shutil.copytree(cache, self.cached, symlinks=True)
        environment["SCRIPT"] = "\n".join(self.job["before_script"] + self.job["script"]) + "\n"
        # Each line of a job's script is part of one text, which the runner evaluates so.
        runner = "if set -o | grep pipefail > /dev/null; then set -o pipefail; fi; set -o errexit\nset +o noclobber\n: | eval \"$SCRIPT\"\nexit 0\n"
        command = [shutil.which(shell, path=path), "-c", runner]
        done = subprocess.run(command, cwd=self.workspace, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)
        self.status = "success" if done.returncode == 0 else "failure"
        self.log = done.stdout.decode(errors="replace")
        if cache is not None:
            shutil.rmtree(cache, ignore_errors=True)
            if self.cached.exists():
                shutil.copytree(self.cached, cache, symlinks=True)

    def report(self, path):
        return path if (self.workspace / path).exists() else ""

    def junit(self):
        return self.report(self.job["artifacts"]["reports"]["junit"])

    def sarif(self):
        return self.report(self.job["artifacts"]["paths"][1])


class Refused(Exception):
    """GitLab makes no pipeline with these inputs."""


class NoJob:
    """What there is of a job that GitLab has not made."""

    status, cached = "failure", None

    def __init__(self, test, log):
        self.workspace, self.log = test.workspace, log

    def junit(self):
        return ""

    def sarif(self):
        return ""


def matches(regex, value, *, blank=True):
    """Whether a regex of RE2, as far as it is used here, finds something in a value. In a `blank` one, older versions of GitLab find nothing."""
    python = regex.replace("[:cntrl:]", r"\x00-\x1f\x7f").replace(r"\z", r"\Z")
    return bool(re.search(python, value)) and (blank or bool(value.strip()))


@functools.cache
def component():
    """The text of the jobs of the GitLab template, its inputs as they are declared, and its jobs. These are not to be changed."""
    text = COMPONENT.read_text()
    header, jobs = documents(text)
    _, _, content = text.partition("\n---\n")
    return content, header["spec"]["inputs"], jobs


def gitlab_job(inputs, *, textual=False, blank=True):
    """The only job, with the inputs in their places, once. There are versions of GitLab that put them into the text before it is
    parsed (`textual`), and others that put them into strings after it was.
    """
    content, declared, jobs = component()
    values = {name: what["default"] for name, what in declared.items() if "default" in what} | inputs
    assert values.keys() == declared.keys(), values.keys() ^ declared.keys()
    for name, what in declared.items():
        if values[name] not in what.get("options", [values[name]]):
            raise Refused(f"`{name}` input: `{values[name]}` cannot be used because it is not in the list of allowed options")
        if "regex" in what and not matches(what["regex"], values[name], blank=blank):
            raise Refused(f"`{name}` input: provided value does not match required RegEx pattern")

    def interpolated(node):
        if isinstance(node, str):
            return re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: values[found[1]], node)
        if isinstance(node, dict):
            return {interpolated(key): interpolated(value) for key, value in node.items()}
        return [interpolated(child) for child in node] if isinstance(node, list) else node

    if textual:
        (jobs,) = documents(interpolated(content))
    else:
        jobs = interpolated(jobs)
    ((name, job),) = jobs.items()
    assert name == values["job"], name
    return job


def body(script):
    """A script of the action from where its comments end."""
    text = (ACTION / script).read_text()
    return text[text.index("\nset -eu\n") + 1:]


class Files(unittest.TestCase):
    """What can be said of the files without running them."""

    def valid(self, schema, path):
        done = check("check_jsonschema", "--builtin-schema", f"vendor.{schema}", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_action_and_the_workflows_are_valid(self):
        self.valid("github-actions", ACTION / "action.yml")
        for workflow in [*sorted((ROOT / ".github/workflows").iterdir()), ROOT / "fixtures/ci/github.yml"]:
            self.valid("github-workflows", workflow)

    def test_the_gitlab_job_is_valid(self):
        self.valid("gitlab-ci", ROOT / "fixtures/ci/gitlab.yml")
        with tempfile.TemporaryDirectory() as folder:
            header, _ = documents(COMPONENT.read_text())
            for number, part in enumerate([header, {"toolcell": gitlab_job({"url": "https://example.com/toolcell", "sha256": "0" * 64})}]):
                path = Path(folder, f"{number}.json")
                path.write_text(json.dumps(part))
                self.valid("gitlab-ci", path)

    def test_an_input_of_the_gitlab_job_remains_one_string(self):
        _, declared, _ = component()
        given = {"url": "https://example.com/toolcell", "sha256": "0" * 64}
        for name, what in declared.items():
            self.assertTrue(what.get("options") or what["regex"].startswith(r"\A") and what["regex"].endswith(r"\z"), name)
            self.assertEqual(what.get("type", "string"), "string")
            # Older versions of GitLab would refuse a default that is blank.
            self.assertTrue(what.get("default", "x").strip(), name)
        gitlab_job(given, blank=False)

        usual = gitlab_job(given)
        refused = ["\"", "\\", "\n", "\r", "\r\n", "\0", "\x7f", "\t", "\", expand: true}\nmore: {script: [id]}\n#", "x\nLINES\nid", "a\n...\n---\nb: c", "", "\\\""]
        kept = ["#", "a # b", "a: b", ": ", "- a", "'", "it's", "$(id)", "`id`", "{a: b}", "[a]", "*a", "&a", "!!int 1", "%YAML", "| x", "> x", "@", "?", "null", "true",
                "1e3", "~", "ü", "工具/", "a b", "$[[ inputs.sarif ]]", "x, expand: true}", "<<", "--- a", "...", "${CI_JOB_TOKEN}"]
        for name in declared:
            for value in refused:
                for end in ("", "x"):
                    with self.subTest(name=name, value=value + end), self.assertRaises(Refused):
                        gitlab_job(given | {name: value + end if value else value})
        free = ["tools", "arguments", "stage", "job"]
        for value in kept:
            with self.subTest(value=value):
                others = [name for name, what in declared.items() if name not in free and "regex" in what and matches(what["regex"], value)]
                inputs = given | dict.fromkeys([*free, *others], value)
                job = gitlab_job(inputs)
                self.assertEqual(job, gitlab_job(inputs, textual=True))
                self.assertEqual((job.keys(), job["variables"].keys()), (usual.keys(), usual["variables"].keys()))
                self.assertEqual([job["stage"], *(job["variables"][f"TOOLCELL_{name}"]["value"] for name in ("TOOLS", "ARGUMENTS"))], [value] * 3)
        # What is in an address, and in the name of an image.
        for name, value in [("url", "${CI_API_V4_URL}/projects/1/packages/generic/toolcell/0.1.0?a=b&c=%20#d"), ("image", "$CI_REGISTRY/a/b:1@sha256:0f"),
                            ("version", "1.0.0-rc.1+b"), ("sha256", f"{'aF' * 32} *toolcell-1.0.0-x86_64-linux.tar.gz"), ("max-regression", "2.5"), ("junit", "a b/ü.xml")]:
            self.assertIn(value, strings(gitlab_job(given | {name: value}, textual=True)))

    def test_the_auditor_of_workflows_finds_nothing(self):
        done = check("zizmor", "--offline", "--no-progress", "--strict-collection", ROOT / ".github")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_no_input_is_part_of_a_script(self):
        workflows = [document(path) for path in [ACTION / "action.yml", *(ROOT / ".github/workflows").iterdir()]]
        scripts = [step["run"] for workflow in workflows for _, step in steps(workflow) if "run" in step]
        self.assertGreater(len(scripts), 10)
        for script in scripts:
            self.assertNotIn("${{", script)
        _, jobs = documents(COMPONENT.read_text())
        (job,) = jobs.values()
        for part in SHARED:
            for line in job[part]:
                self.assertNotIn("$[[", line)
        # Only an address may name variables, such as those of GitLab's own package registry.
        expanded = [name for name, value in job["variables"].items() if not isinstance(value, dict) and "$[[" in value]
        self.assertEqual(expanded, ["TOOLCELL_RELEASE_URL"])

    def test_the_gitlab_job_has_the_scripts_of_the_action(self):
        text = COMPONENT.read_text()
        for script in SHARED.values():
            inside = "".join(f"      {line}".rstrip() + "\n" for line in f"(\n{body(script)})".splitlines())
            place = re.compile(rf"(    - \|  # \.github/actions/toolcell/{re.escape(script)}\n)((?:      .*\n|\n)*)")
            self.assertEqual(len(place.findall(text)), 1)
            text = place.sub(lambda found, inside=inside: found[1] + inside, text)
        if os.environ.get("TOOLCELL_UPDATE_CI"):
            COMPONENT.write_text(text)
        self.assertEqual(COMPONENT.read_text(), text, "TOOLCELL_UPDATE_CI=1 writes the scripts of the action into the GitLab job")

    def test_the_version_is_that_of_the_workspace(self):
        header, _ = documents(COMPONENT.read_text())
        self.assertEqual(header["spec"]["inputs"]["version"]["default"], VERSION)
        self.assertEqual(document(ACTION / "action.yml")["inputs"]["version"]["default"], VERSION)
        for example in ("github", "gitlab"):
            for found in re.findall(r"(?:@v|toolcell-)(\d+\.\d+\.\d+)", (ROOT / f"fixtures/ci/{example}.yml").read_text()):
                self.assertEqual(found, VERSION)
        rust = re.search(r'^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
        containers = [job["container"] for job in document(RELEASE)["jobs"].values() if "container" in job]
        images = {container["image"] if isinstance(container, dict) else container for container in containers}
        self.assertEqual(images, {f"rust:{rust}-bookworm"})

    def test_shellcheck_finds_nothing(self):
        packed.need("shellcheck")
        packed.run("shellcheck", "--shell=sh", *sorted(ACTION.glob("*.sh")))
        for name in (ACTION / "action.yml", RELEASE):
            workflow = document(name)
            for job, step in steps(workflow):
                if "run" in step:
                    # Runners set this.
                    script, shell = f"set -e\n{step['run']}", step.get("shell", "bash")
                    done = subprocess.run(["shellcheck", f"--shell={shell}", "-"], input=script, text=True, capture_output=True)
                    self.assertEqual(done.returncode, 0, f"{name.name}, {job}: {done.stdout}")


class Release(unittest.TestCase):
    """The workflow that makes a release."""

    def setUp(self):
        self.workflow = document(RELEASE)
        self.jobs = self.workflow["jobs"]

    def before(self, job):
        """All jobs that have to succeed before this one."""
        needs = self.jobs[job].get("needs", [])
        direct = {needs} if isinstance(needs, str) else set(needs)
        return direct.union(*map(self.before, direct))

    def test_each_job_may_do_what_it_needs_and_no_more(self):
        self.assertEqual(self.workflow["permissions"], {})
        read = {"contents": "read"}
        self.assertEqual({name: job["permissions"] for name, job in self.jobs.items()}, {
            "version": read, "build": read, "reproduce": read, "sign": read, "install": read,
            "attest": {"attestations": "write", "id-token": "write"}, "draft": {"contents": "write"},
            "pypi": {"id-token": "write"}, "npm": {"id-token": "write"}, "ghcr": {"packages": "write"},
        })
        environments = {name: job["environment"] for name, job in self.jobs.items() if "environment" in job}
        self.assertEqual(environments, {"sign": "release", "pypi": "pypi", "npm": "npm", "ghcr": "ghcr"})

    def test_the_key_is_where_nothing_is_built(self):
        with_secrets = {name for name, job in self.jobs.items() if any("secrets." in text for text in strings(job))}
        self.assertEqual(with_secrets, {"sign"})
        self.assertTrue({"build", "reproduce", "version"} <= self.before("sign"))
        sign = [step for job, step in steps(self.workflow) if job == "sign"]
        for step in sign:
            self.assertRegex(step.get("uses", "actions/"), r"^actions/(checkout|upload-artifact|download-artifact)@|^actions/$")
            self.assertNotRegex(step.get("run", ""), r"\b(make|cargo|npm|npx|pip|curl|wget)\b")
        # The key is there for one step alone.
        self.assertEqual(sum("secrets." in text for step in sign for text in strings(step)), 1)

    def test_nothing_is_published_that_is_not_signed_reproduced_and_approved(self):
        for job in ("draft", "pypi", "npm", "ghcr"):
            self.assertTrue({"version", "build", "reproduce", "sign", "install", "attest"} <= self.before(job), job)
            for _, step in (found for found in steps(self.workflow) if found[0] == job):
                self.assertNotRegex(step.get("run", ""), r"\b(make|cargo)\b")
        for job in ("pypi", "npm", "ghcr"):
            self.assertIn("draft", self.before(job))

    def run_step(self, job, name, folder, **variables):
        (step,) = [step for of, step in steps(self.workflow) if of == job and step.get("name") == name]
        output = folder.parent / "output"
        output.write_text("")
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GITHUB_OUTPUT": str(output)} | variables
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=folder, env=environment,
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, output.read_text()

    def test_the_tag_has_to_be_the_version_of_a_commit_of_main(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary, "checkout")
            files = ["Cargo.toml", ".github/actions/toolcell/action.yml", ".gitlab/toolcell.yml"]
            for file in files:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, folder / file)
            changes = folder / "CHANGELOG.md"
            changes.write_text(f"# Changelog\n\n## Unreleased\n\n## [{VERSION}] - 2026-01-31\n\n- First.\n")

            def git(*arguments):
                packed.run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments, cwd=folder)

            git("init", "--quiet", "--initial-branch=main")
            git("add", ".")
            git("commit", "--quiet", "--message=a")
            git("update-ref", "refs/remotes/origin/main", "HEAD")

            def compare(tag):
                return self.run_step("version", "Compare the tag with what the sources say", folder, GITHUB_REF_NAME=tag)

            self.assertEqual(compare(f"v{VERSION}"), (0, "", f"version={VERSION}\n"))
            for tag in (f"v{VERSION}1", f"v{VERSION}-rc.1", VERSION):
                status, said, output = compare(tag)
                self.assertEqual((status, output), (1, ""))
                self.assertIn(f"the tag is {tag}", said)
            for heading in ("## Unreleased", f"## {VERSION}0", f"## {VERSION.replace('.', 'x')}", f"### {VERSION}"):
                changes.write_text(f"# Changelog\n\n{heading}\n\n- First.\n")
                self.assertIn("has no heading", compare(f"v{VERSION}")[1], heading)
            changes.write_text(f"## {VERSION}\n")
            self.assertEqual(compare(f"v{VERSION}")[0], 0)
            for file in files[1:]:
                text = (folder / file).read_text()
                (folder / file).write_text(text.replace(f'default: "{VERSION}"', 'default: "9.9.9"'))
                self.assertIn(f"{file} has another version", compare(f"v{VERSION}")[1])
                (folder / file).write_text(text)
            git("commit", "--quiet", "--allow-empty", "--message=b")
            self.assertIn("not a commit of main", compare(f"v{VERSION}")[1])

    def test_the_key_is_in_memory_while_it_signs(self):
        for program in "b3sum", "minisign":
            packed.need(program)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary, "checkout")
            shutil.copytree(ROOT / ".ci/release", folder / ".ci/release")
            shutil.copy(ROOT / "Cargo.toml", folder)
            (folder / "dist").mkdir()
            (folder / "dist" / NAME).write_bytes(b"an archive")
            (folder / "dist/SHA256SUMS").write_text("of a build\n")
            keys = [Path(temporary, name) for name in ("secret", "public")]
            packed.run("minisign", "-G", "-W", "-s", keys[0], "-p", keys[1])
            memory = Path("/dev/shm")
            before = set(memory.glob("key.*"))
            variables = {"TOOLCELL_RELEASE_URL": "https://example.com/toolcell", "SIGNING_KEY": ""}
            self.assertIn("has no secret TOOLCELL_SIGNING_KEY", self.run_step("sign", "Sign", folder, **variables)[1])
            secret = keys[0].read_text()
            status, said, _ = self.run_step("sign", "Sign", folder, **variables | {"SIGNING_KEY": secret})
            self.assertEqual(status, 0, said)
            packed.run("minisign", "-V", "-p", keys[1], "-m", folder / "dist/SHA256SUMS")
            self.assertEqual(set(memory.glob("key.*")), before)
            line = secret.splitlines()[1]
            for path in Path(temporary).rglob("*"):
                self.assertTrue(path == keys[0] or path.is_dir() or line.encode() not in path.read_bytes(), path)

    def test_a_release_that_lacks_a_file_is_no_release(self):
        with tempfile.TemporaryDirectory() as temporary:
            dist = Path(temporary, "checkout/dist")
            dist.mkdir(parents=True)
            endings = ("linux.tar.gz", "linux.cdx.json", "oci.tar")
            built = [f"{name}-{VERSION}-{arch}-{ending}" for name in ("toolcell", "toolcell-cluster") for arch in ("x86_64", "aarch64") for ending in endings]
            built += [f"toolcell-images-{VERSION}-{arch}-linux.tar.gz" for arch in ("x86_64", "aarch64")]
            built += [f"toolcell_{VERSION}_{arch}.deb" for arch in ("amd64", "arm64")]
            built += [f"toolcell-{VERSION}-cp310-abi3-manylinux_2_34_x86_64.whl", f"toolcell-{VERSION}.tgz", f"toolcell-linux-x64-gnu-{VERSION}.tgz"]
            signed = [f"{name}.minisig" for name in ["SHA256SUMS", *built] if name.endswith((".tar.gz", "SUMS"))]
            for name in [*built, *signed, "install.sh", "B3SUMS"]:
                (dist / name).write_text(f"content of {name}")
            (dist / "SHA256SUMS").write_text("".join(f"{hashlib.sha256((dist / name).read_bytes()).hexdigest()}  {name}\n" for name in built))

            def look():
                return self.run_step("sign", "Look whether all of it is there", dist.parent, VERSION=VERSION)

            self.assertEqual(look()[0], 0, look()[1])
            for name in [*built, *signed, "install.sh", "B3SUMS"]:
                content = (dist / name).read_bytes()
                (dist / name).write_bytes(b"")
                status, said, _ = look()
                self.assertEqual((status, said.count("::error::")), (1, 1), said)
                self.assertIn(f"::error::the release has no {name}: ", said)
                (dist / name).unlink()
                status, said, _ = look()
                self.assertEqual((status, said.count("::error::")), (1, 1), said)
                (dist / name).write_bytes(content)
            # What was signed is another file.
            (dist / built[0]).write_text("another archive")
            self.assertEqual(look()[0], 1)

    def test_the_notes_are_those_of_the_version(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary, "checkout")
            folder.mkdir()
            (folder / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- new\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- this\n\n## 1.2.3-rc.1\n- old\n")
            name = "Take the notes from the change log"
            self.assertEqual(self.run_step("draft", name, folder, VERSION="1.2.3")[0], 0)
            self.assertEqual((folder / "notes.md").read_text(), "\n### Added\n\n- this\n\n")
            status, said, _ = self.run_step("draft", name, folder, VERSION="1.2.4")
            self.assertEqual((status, "says nothing about 1.2.4" in said), (1, True))


class Expressions(unittest.TestCase):
    def test_conditions_mean_what_they_mean_on_github(self):
        contexts = {"inputs": {"upload": "true", "none": ""}}
        for text, expect in [
            ("!cancelled() && inputs.upload == 'true' && (inputs.none != '' || inputs.upload != '')", True),
            ("inputs.none || inputs.upload", "true"), ("inputs.missing.deep == ''", True), ("success()", False), ("!success()", True),
        ]:
            self.assertEqual(Expression(text, contexts, "failure").value(), expect, text)
        with self.assertRaises(AssertionError):
            Expression("hashFiles('x')[0]", contexts, "success").value()


class Script(unittest.TestCase):
    """test.sh with a stand-in for the binary, which does what the binary should not."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="ci script ")))

    def run_script(self, toolcell, *, shell="sh", **variables):
        program = self.folder / "bin/toolcell"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{toolcell}\n")
        program.chmod(0o755)
        environment = {
            "PATH": f"{program.parent}:{os.environ['PATH']}", "TOOLCELL_TOOLS": "tools/", "TOOLCELL_CHECK": "true", "TOOLCELL_SARIF": "the.sarif",
            "TOOLCELL_JUNIT": "the.xml", "TOOLCELL_MAX_REGRESSION": "", "TOOLCELL_ARGUMENTS": "", "GITHUB_OUTPUT": str(self.folder / "output"),
        }
        (self.folder / "output").write_text("")
        done = subprocess.run([shell, ACTION / "test.sh"], cwd=self.folder, env=environment | variables, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return done.returncode, done.stdout, (self.folder / "output").read_text().splitlines()

    def test_a_report_that_differs_from_the_check_is_no_report(self):
        for first, second, expect in [(0, 3, 3), (3, 0, 3), (0, 101, 101), (3, 1, 3), (0, 0, 0), (3, 3, 3)]:
            for shell in ("sh", "bash"):
                with self.subTest(first=first, second=second, shell=shell):
                    toolcell = f'case $* in "check --format sarif"*) echo report; exit {second} ;; check*) exit {first} ;; test*) echo tested ;; esac'
                    status, said, output = self.run_script(toolcell, shell=shell)
                    # The tests were run all the same.
                    self.assertIn("tested", said)
                    self.assertEqual(status, expect)
                    same = first == second
                    self.assertEqual(("sarif=the.sarif" in output, (self.folder / "the.sarif").exists()), (same, same))
                    if not same:
                        cause = f"error: toolcell check ended with status {second} when it wrote the.sarif, and with {first} before: there is no report\nhint: "
                        self.assertIn(cause, said)

    def test_a_report_that_cannot_be_written_is_named(self):
        toolcell = 'case $1 in test) echo tested ;; esac'
        status, said, output = self.run_script(toolcell, TOOLCELL_SARIF="folder/")
        self.assertEqual((status != 0, output), (True, []))
        self.assertIn("when it wrote folder/, and with 0 before", said)
        self.assertIn("tested", said)

    def test_one_file_is_not_both_reports(self):
        (self.folder / "real/folder").mkdir(parents=True)
        (self.folder / "link").symlink_to("real/folder")
        for junit, sarif in [
            ("same", "same"), ("same", "./same"), ("./a/../same", "same"), ("link/same", "real/folder/same"), (str(self.folder / "same"), "same"),
            ("-same", "./-same"),
        ]:
            with self.subTest(junit=junit, sarif=sarif):
                status, said, _ = self.run_script("echo run", TOOLCELL_JUNIT=junit, TOOLCELL_SARIF=sarif)
                self.assertEqual((status, "run" in said), (1, False), said)
                self.assertIn("`junit` and `sarif` are the same file: ", said)
                self.assertIn("hint: name another file for one of them", said)
        status, said, _ = self.run_script("exit 0", TOOLCELL_JUNIT="real/same", TOOLCELL_SARIF="link/same")
        self.assertEqual(status, 0, said)

    def test_no_text_of_the_check_is_a_command(self):
        # On both streams, in any order, and with what could end the protection.
        text = "::error::pwned\\n  ::add-mask::pwned\\n##[error]pwned\\n::stop-commands::pwned\\n::pwned::\\n::::\\n"
        check = f"printf '{text}'; printf '{text}' >&2; printf '{text}'"
        toolcell = f'case $1 in check) {check}; exit 3 ;; test) echo "::error::a test" ;; esac'
        tokens = set()
        for shell in ("sh", "bash"):
            status, said, output = self.run_script(toolcell, shell=shell, GITHUB_ACTIONS="true")
            self.assertEqual((status, commands(said)), (3, ["::error::a test"]), said)
            self.assertEqual(said.count("pwned"), 5 * 3 + 5)
            self.assertIn("sarif=the.sarif", output)
            (token,) = re.findall(r"^::stop-commands::([0-9a-f]{32})$", said, re.MULTILINE)
            tokens.add(token)
        self.assertEqual(len(tokens), 2)
        # Nowhere else.
        _, said, _ = self.run_script("exit 0")
        self.assertNotIn("::", said)

    def test_without_random_bytes_nothing_is_checked(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/od").write_text("#!/bin/sh\n")
        (self.folder / "bin/od").chmod(0o755)
        status, said, _ = self.run_script("echo run", GITHUB_ACTIONS="true")
        self.assertEqual((status, "run\n" in said), (1, False))
        self.assertIn("there are no random bytes", said)


class Runs:
    """What holds of the action and of the GitLab job alike."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="ci actions ")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.workspace = self.repository("workspace")
        self.sha256 = f"{digest()}  {NAME}"

    def repository(self, name):
        """A repository with a tool and its test, which passes."""
        tools = self.folder / name / "tools"
        tools.mkdir(parents=True)
        for ending in ("js", "test.toml"):
            shutil.copy(ROOT / f"fixtures/tools/calculate_average.{ending}", tools)
        return tools.parent

    def serve(self, body=None, at=f"/{NAME}"):
        server = Server({at: archive() if body is None else body})
        return self.enterContext(server)

    def break_test(self):
        file = self.workspace / "tools/calculate_average.test.toml"
        text = file.read_text()
        broken = re.sub(r"^returns = .*", "returns = 12345", text, flags=re.MULTILINE)
        self.assertNotEqual(text, broken)
        file.write_text(broken)

    def refused_tool(self, name="refused"):
        (self.workspace / f"tools/{name}.js").write_text("const execute = ({ code }) => eval(code);\n")

    def results(self, job):
        """The tests and failures in the report, which has to be well-formed."""
        suites = xml.etree.ElementTree.parse(job.workspace / job.junit()).getroot()
        self.assertEqual(suites.tag, "testsuites")
        return len(list(suites.iter("testcase"))), len(list(suites.iter("failure")))

    def findings(self, job):
        """The findings in the report, as SARIF 2.1.0 has them."""
        report = json.loads((job.workspace / job.sarif()).read_text())
        self.assertEqual(report["version"], "2.1.0")
        (run,) = report["runs"]
        self.assertEqual(run["tool"]["driver"]["name"], "toolcell")
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        found = []
        for result in run["results"]:
            self.assertIn(result["ruleId"], rules)
            self.assertTrue(result["message"]["text"])
            place = result["locations"][0]["physicalLocation"]
            self.assertGreater(place["region"]["startLine"], 0)
            found.append((result["level"], place["artifactLocation"]["uri"]))
        return found

    def says(self, job, said):
        """It was refused, by the script with these words, or by GitLab, which has words of its own."""
        self.assertIn("input: provided value does not match" if isinstance(job, NoJob) else said, job.log)

    def no_reports(self, job):
        self.assertEqual((job.status, job.junit(), job.sarif()), ("failure", "", ""), job.log)

    def test_tools_that_pass(self):
        server = self.serve()
        job = self.job(url=server.url, sha256=self.sha256, **{"max-regression": "5%"})
        self.assertEqual(job.status, "success", job.log)
        self.assertIn("fetched, SHA-256 as expected", job.log)
        self.assertIn("works", job.log)
        self.assertIn("1 checked, 0 refused", job.log)
        self.assertEqual((job.junit(), job.sarif()), ("toolcell.xml", "toolcell.sarif"))
        self.assertEqual(self.results(job), (1, 0))
        self.assertEqual([level for level, _ in self.findings(job) if level == "error"], [])
        self.assertEqual(server.asked, [f"/{NAME}"])

    def test_a_test_that_fails(self):
        self.break_test()
        job = self.job(url=self.serve().url, sha256=self.sha256)
        self.assertEqual(job.status, "failure")
        self.assertIn("it returns 2.5, expected 12345", job.log)
        self.assertEqual(self.results(job), (1, 1))
        self.assertTrue(job.sarif())

    def test_a_source_that_is_refused(self):
        self.refused_tool()
        job = self.job(url=self.serve().url, sha256=self.sha256)
        self.assertEqual(job.status, "failure")
        self.assertIn("2 checked, 1 refused", job.log)
        self.assertIn(("error", "tools/refused.js"), self.findings(job))
        # The tests were run all the same.
        self.assertEqual(self.results(job), (1, 0))
        self.assertIn("toolcell check: status 3", job.log)

    def test_the_analysis_can_be_left_out(self):
        self.refused_tool()
        job = self.job(url=self.serve().url, sha256=self.sha256, check="false")
        self.assertEqual((job.status, job.sarif()), ("success", ""), job.log)
        self.assertEqual(self.results(job), (1, 0))

    def test_no_tools(self):
        for tools in ("none", self.separator):
            with self.subTest(tools=tools):
                job = self.job(url=self.serve().url, sha256=self.sha256, tools=tools)
                self.no_reports(job)
        self.assertIn("`tools` is empty", job.log)

    def test_a_report_of_an_earlier_run_is_none_of_this_one(self):
        for name in ("toolcell.xml", "toolcell.sarif"):
            (self.workspace / name).write_text("old")
        job = self.job(url=self.serve().url, sha256=self.sha256, tools="none", workspace=self.workspace)
        self.no_reports(job)

    def test_another_digest(self):
        body = bytearray(archive())
        body[len(body) // 2] ^= 1
        job = self.job(url=self.serve(bytes(body)).url, sha256=self.sha256)
        self.no_reports(job)
        self.assertIn(f"expected {digest()}: nothing was unpacked", job.log)
        self.nothing_was_unpacked(job)

    def test_an_archive_that_is_cut_off(self):
        half = archive()[:len(archive()) // 2]
        for body in (half, (half, len(archive())), b""):
            with self.subTest(length=len(body)):
                job = self.job(url=self.serve(body).url, sha256=self.sha256)
                self.no_reports(job)
                self.assertRegex(job.log, "cannot be fetched from|nothing was unpacked")
                self.nothing_was_unpacked(job)

    def test_an_archive_that_is_not_there(self):
        job = self.job(url=self.serve(at="/another").url, sha256=self.sha256)
        self.no_reports(job)
        self.assertIn(f"{NAME} cannot be fetched from http://127.0.0.1", job.log)
        self.nothing_was_unpacked(job)

    def test_a_server_that_is_not_there(self):
        with Server({}) as server:
            url = server.url
        job = self.job(url=url, sha256=self.sha256)
        self.no_reports(job)
        self.assertIn("cannot be fetched from", job.log)

    def test_a_digest_that_is_none(self):
        url = self.serve().url
        for sha256, said in [
            ("", "has no line for"), (f"{digest()}  another.tar.gz", "has no line for"), (f"{digest()[:-1]}  {NAME}", "is not 64 hexadecimal"),
            ("x" * 64, "is not 64 hexadecimal"), (f"{digest()} {NAME} more", "has no line for"),
        ]:
            with self.subTest(sha256=sha256):
                job = self.job(url=url, sha256=sha256)
                self.no_reports(job)
                self.says(job, said)
                self.nothing_was_unpacked(job)

    def test_the_digest_in_each_form(self):
        url = self.serve().url
        both = f"\n{'0' * 64}  {NAME.replace(packed.ARCH, 'other')}\n{self.sha256}\n\n"
        # An input of the GitLab job is one line.
        for sha256 in (digest(), digest().upper(), f"{digest()} *{NAME}", *([both] if self.separator == "\n" else [])):
            with self.subTest(sha256=sha256):
                job = self.job(url=url, sha256=sha256, workspace=self.repository(f"workspace {len(os.listdir(self.folder))}"))
                self.assertEqual(job.status, "success", job.log)

    def test_an_address_or_a_version_that_is_none(self):
        for inputs, said in [
            ({"url": "ftp://127.0.0.1/"}, "is not an address"), ({"url": "file:///etc"}, "is not an address"), ({"url": "https://"}, "is not an address"),
            ({"url": "--output=/x"}, "is not an address"), ({"version": "../0.1.0"}, "is not a version"), ({"version": ""}, "is not a version"),
        ]:
            with self.subTest(**inputs):
                job = self.job(**{"url": self.serve().url, "sha256": self.sha256} | inputs)
                self.no_reports(job)
                self.says(job, said)

    def test_an_address_is_no_pattern(self):
        folder = "{a,b}[1-2]"
        server = self.serve(at=f"/{folder}/{NAME}")
        job = self.job(url=f"{server.url}/{folder}", sha256=self.sha256)
        self.assertEqual((job.status, server.asked), ("success", [f"/{folder}/{NAME}"]), job.log)

    def test_paths_with_spaces(self):
        self.workspace = self.repository("a work space")
        # Where a space is between two paths, none has one.
        tools = "mytools/" if self.separator == " " else "my tools/"
        (self.workspace / "tools").rename(self.workspace / tools)
        job = self.job(url=self.serve().url, sha256=self.sha256, tools=tools, junit="my reports/j unit.xml", sarif="my reports/the sarif")
        self.assertEqual(job.status, "success", job.log)
        self.assertEqual((job.junit(), job.sarif()), ("my reports/j unit.xml", "my reports/the sarif"))
        self.assertEqual(self.results(job), (1, 0))
        self.findings(job)

    def test_several_paths_and_arguments(self):
        more = "-moretools" if self.separator == " " else "-more tools"
        shutil.copytree(self.workspace / "tools", self.workspace / more)
        tools, arguments = (self.separator.join([*words, ""]) for words in (["tools", "", more], ["--jobs", "1", "--filter=average"]))
        job = self.job(url=self.serve().url, sha256=self.sha256, tools=tools, arguments=arguments)
        self.assertEqual(job.status, "success", job.log)
        self.assertEqual(self.results(job), (2, 0))
        job = self.job(url=self.serve().url, sha256=self.sha256, arguments=f"--filter{self.separator}no-such-test", workspace=self.workspace)
        self.assertIn("no test name or tool name contains `no-such-test`", job.log)

    def test_no_input_is_run(self):
        url = self.serve().url
        attacks = ["$(touch pwned) `touch pwned`", "$(touch${IFS}pwned)", "\"; touch pwned; \"", "'; touch pwned; '", "\nLINES\ntouch pwned\n"]
        # Where each begins as what is taken for an input, so that nothing is refused too early.
        of_setup = {"url": f"{url}/", "version": VERSION, "sha256": f"{self.sha256}\n"}
        of_test = {"tools": "tools/", "max-regression": "5%", "arguments": "--jobs=1\n", "junit": "j", "sarif": "s"}
        for attack in attacks:
            attacked = [{name: begin + attack} for name, begin in of_setup.items()]
            attacked.append({name: begin + attack for name, begin in of_test.items() if "\n" not in attack or name[-1] == "s"})
            for inputs in filter(None, map(self.accepted, attacked)):
                with self.subTest(**inputs):
                    self.workspace = self.repository(f"attacked {len(os.listdir(self.folder))}")
                    job = self.job(**{"url": url, "sha256": self.sha256} | inputs)
                    self.assertEqual(list(self.folder.rglob("pwned")), [], job.log)
                    if "tools" in inputs:
                        self.assertIn("toolcell test: status", job.log)

    def test_a_download_without_an_end_is_given_up(self):
        packed.need("wget")
        for path in (None, self.programs("wget")):
            with self.subTest(path=path):
                job = self.job(url=self.serve(huge).url, sha256=self.sha256, **{"path": path} if path else {})
                self.no_reports(job)
                self.assertRegex(job.log, r"cannot be fetched from http://127\.0\.0\.1:\d+ in 600 s and 100 MiB")
                self.nothing_was_unpacked(job)

    def test_a_download_ends_after_its_time_even_if_it_goes_on(self):
        packed.need("wget")
        for path in (None, self.programs("wget", "timeout", "true")):
            with self.subTest(path=path):
                job = self.job(url=self.serve(steady).url, sha256=self.sha256, variables={"TOOLCELL_TIMEOUT": "1"}, **{"path": path} if path else {})
                self.no_reports(job)
                self.assertRegex(job.log, r"cannot be fetched from http://127\.0\.0\.1:\d+ in 1 s and 100 MiB")
        for seconds in ("0", "1.5", "a", "-1", "1 2"):
            job = self.job(url=self.serve().url, sha256=self.sha256, variables={"TOOLCELL_TIMEOUT": seconds})
            self.no_reports(job)
            self.assertIn(f"TOOLCELL_TIMEOUT is not a number of seconds: {seconds}", job.log)

    def test_a_cache_that_has_something_else_is_not_used(self):
        victim = self.folder / "victim"
        victim.write_text("precious\n")

        def a_folder(place):
            place.mkdir()
            (place / "file").write_text("x")

        for make in (a_folder, lambda place: place.symlink_to(victim), lambda place: place.symlink_to(self.folder)):
            cache = Path(tempfile.mkdtemp(dir=self.folder))
            make(cache / NAME)
            make(cache / f"{NAME}.part")
            server = self.serve()
            job = self.job(url=server.url, sha256=self.sha256, cache=self.cache_of(cache), workspace=self.repository(f"workspace {cache.name}"))
            self.assertEqual((job.status, server.asked), ("success", [f"/{NAME}"]), job.log)
            self.assertIn("it is fetched again", job.log)
            kept = self.cached(job)
            self.assertEqual(os.listdir(kept), [NAME])
            self.assertEqual(hashlib.sha256((kept / NAME).read_bytes()).hexdigest(), digest())
            self.assertEqual(victim.read_text(), "precious\n")

    def test_without_curl(self):
        packed.need("wget")
        path = self.programs("wget")
        server = self.serve()
        job = self.job(url=server.url, sha256=self.sha256, path=path)
        self.assertEqual(job.status, "success", job.log)
        self.assertEqual(server.asked, [f"/{NAME}"])
        job = self.job(url=server.url, sha256=self.sha256, version="9.9.9", workspace=self.repository("another"), path=path)
        self.assertIn("has no line for", job.log)
        job = self.job(url=f"{server.url}/none", sha256=self.sha256, workspace=self.repository("yet another"), path=path)
        self.assertIn("cannot be fetched from", job.log)

    def test_an_image_without_what_is_needed(self):
        job = self.job(url=self.serve().url, sha256=self.sha256, path=self.programs())
        self.no_reports(job)
        self.assertIn("has neither curl nor wget", job.log)
        job = self.job(url=self.serve().url, sha256=self.sha256, path=self.programs("curl", without="gzip"), workspace=self.workspace)
        self.no_reports(job)
        self.assertIn("has no gzip", job.log)

    def test_busybox_is_enough(self):
        packed.need("busybox")
        folder = self.folder / "busybox"
        folder.mkdir()
        for applet in packed.run("busybox", "--list").split():
            (folder / applet).symlink_to(shutil.which("busybox"))
        server = self.serve()
        job = self.job(url=server.url, sha256=self.sha256, path=str(folder), **self.with_busybox)
        self.assertEqual(job.status, "success", job.log)
        self.assertEqual((self.results(job), server.asked), ((1, 0), [f"/{NAME}"]))

    def programs(self, *more, without=()):
        """A folder with the programs that the scripts need, for PATH."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        for program in ("sh", "bash", "cut", "dirname", "grep", "gzip", "mkdir", "mv", "od", "rm", "sha256sum", "tar", "tr", "uname", *more):
            if program not in without:
                (folder / program).symlink_to(shutil.which(program))
        return str(folder)


class ActionTest(Runs, unittest.TestCase):
    with_busybox = {}
    # Between two paths, or two arguments.
    separator = "\n"

    def job(self, *, repository="", server="https://github.invalid", cache=None, path=None, workspace=None, variables=None, **inputs):
        return Job(self, inputs, repository=repository, server=server, cache=cache, path=path, workspace=workspace, variables=variables)

    def accepted(self, inputs):
        return inputs

    def cache_of(self, folder):
        class EachKey(dict):
            def __contains__(self, _):
                return True

            def __missing__(self, _):
                return str(folder)

        return EachKey()

    def cached(self, job):
        return job.temp / "toolcell-cache"

    def nothing_was_unpacked(self, job):
        self.assertEqual(sorted(path.name for path in job.temp.iterdir() if path.name not in ("step", "toolcell-cache") and not path.name.startswith("file of")), [])
        self.assertEqual(list((job.temp / "toolcell-cache").glob("*")), [])

    def test_the_release_is_that_of_the_repository_of_the_action(self):
        server = self.serve(at=f"/acme/toolcell/releases/download/v{VERSION}/{NAME}")
        job = self.job(repository="acme/toolcell", server=server.url, sha256=self.sha256)
        self.assertEqual((job.status, len(server.asked)), ("success", 1), job.log)
        job = self.job(sha256=self.sha256)
        self.assertEqual(job.status, "failure")
        self.assertIn("this copy of the action does not know where it came from", job.log)

    def test_reports_are_uploaded_whatever_they_say(self):
        self.break_test()
        self.refused_tool()
        url = self.serve().url
        job = self.job(url=url, sha256=self.sha256, name="mine", **{"upload-sarif": "true"})
        self.assertEqual(job.status, "failure")
        self.assertEqual(job.uploaded("actions/upload-artifact"), {"name": "mine", "path": "toolcell.xml\ntoolcell.sarif\n"})
        self.assertEqual(job.uploaded("github/codeql-action/upload-sarif"), {"sarif_file": "toolcell.sarif", "category": "mine"})
        # What GitHub shows on the lines of a pull request.
        self.assertIn("::error ", job.log)
        job = self.job(url=url, sha256=self.sha256, upload="false")
        self.assertEqual([name.split("@")[0] for name, _ in job.used], ["actions/cache"])
        job = self.job(url=url, sha256=self.sha256)
        self.assertEqual([name.split("@")[0] for name, _ in job.used], ["actions/cache", "actions/upload-artifact"])

    def test_the_name_of_a_file_is_no_command(self):
        # Each is a line of what the check says.
        self.refused_tool("a\n::error::pwned")
        self.refused_tool("b\n::add-mask::pwned")
        job = self.job(url=self.serve().url, sha256=self.sha256)
        self.assertIn("\n::error::pwned.js", job.log)
        checked, _ = job.log.split("3 checked, 2 refused")
        self.assertEqual(commands(checked), [], job.log)
        # Those of the tests are commands again.
        self.break_test()
        job = self.job(url=self.serve().url, sha256=self.sha256, workspace=self.workspace)
        self.assertTrue([line for line in commands(job.log) if line.startswith("::error ")], job.log)

    def test_nothing_is_uploaded_if_there_is_nothing(self):
        for inputs in ({"sha256": "0" * 64}, {"sha256": self.sha256, "tools": "none"}):
            job = self.job(url=self.serve().url, **{"upload-sarif": "true"} | inputs)
            self.assertEqual(job.status, "failure")
            self.assertEqual([name.split("@")[0] for name, _ in job.used], ["actions/cache"])

    def test_the_archive_is_cached_and_compared_again(self):
        server, cache = self.serve(), {}
        for _ in range(2):
            job = self.job(url=server.url, sha256=self.sha256, cache=cache)
            self.assertEqual(job.status, "success", job.log)
        self.assertEqual(len(server.asked), 1)
        self.assertIn("cached", job.log)
        ((key, folder),) = cache.items()
        self.assertTrue(key.startswith(f"toolcell-{VERSION}-{packed.ARCH}-"))
        self.assertEqual(os.listdir(folder), [NAME])
        Path(folder, NAME).write_bytes(b"poisoned")
        job = self.job(url=server.url, sha256=self.sha256, cache=cache)
        self.assertEqual((job.status, len(server.asked)), ("success", 2), job.log)
        self.assertIn("it is fetched again", job.log)
        # Another digest is another key.
        job = self.job(url=server.url, sha256="0" * 64, cache=cache)
        self.assertNotEqual(job.uploaded("actions/cache")["key"], key)
        self.assertEqual((job.status, len(cache)), ("failure", 1))

    def test_an_output_is_one_line(self):
        url = self.serve().url
        for inputs in ({"junit": "a\ntoolcell=b"}, {"sarif": "a\nb"}, {"url": f"{url}\nkey=b"}, {"version": f"{VERSION}\nkey=b"}):
            job = self.job(**{"url": url, "sha256": self.sha256} | inputs)
            self.assertEqual((job.status, job.outputs["junit"], job.outputs["sarif"]), ("failure", "", ""))
            self.assertNotIn("b", [value for step in job.steps.values() for value in step["outputs"].values()])

    def test_later_steps_have_the_binary(self):
        job = self.job(url=self.serve().url, sha256=self.sha256)
        self.assertEqual(packed.run(job.outputs["toolcell"], "--version"), f"toolcell {VERSION}\n")
        self.assertEqual(shutil.which("toolcell", path=job.environment["PATH"]), job.outputs["toolcell"])
        job = self.job(url=self.serve().url, sha256=self.sha256, check="yes")
        self.assertIn("`check` is neither true nor false: yes", job.log)

    def test_the_example_does_what_it_says(self):
        workflow = document(ROOT / "fixtures/ci/github.yml")
        self.assertEqual(workflow["permissions"], {"contents": "read"})
        ((_, _), (_, step)) = steps(workflow)
        self.assertEqual(step["uses"], f"<owner>/toolcell/.github/actions/toolcell@v{VERSION}")
        given = step["with"]
        server = self.serve(at=f"/a/toolcell/releases/download/v{VERSION}/{NAME}")
        job = self.job(repository="a/toolcell", server=server.url, **given)
        self.assertEqual(job.status, "failure")
        given["sha256"] = given["sha256"].replace("0" * 64, digest()).replace("x86_64", packed.ARCH)
        job = self.job(repository="a/toolcell", server=server.url, **given)
        self.assertEqual(job.status, "success", job.log)


class GitlabTest(Runs, unittest.TestCase):
    with_busybox = {"shell": "ash"}
    separator = " "
    shell = "sh"

    def job(self, *, shell=None, **options):
        known = ("cache", "path", "workspace", "variables")
        inputs = {name: value for name, value in options.items() if name not in known}
        try:
            return GitlabJob(self, inputs, shell=shell or self.shell, **{name: options[name] for name in known if name in options})
        except Refused as refused:
            return NoJob(self, str(refused))

    def accepted(self, inputs):
        """Without those that GitLab refuses. Of each attack that is one line without double quotes, something has to remain."""
        _, declared, _ = component()
        remaining = {name: value for name, value in inputs.items() if matches(declared[name]["regex"], value)}
        plain = not any(character in value for value in inputs.values() for character in "\"\n")
        self.assertTrue(remaining or "tools" not in inputs or not plain)
        return remaining

    def cache_of(self, folder):
        return folder

    def cached(self, job):
        return job.cached

    def nothing_was_unpacked(self, job):
        self.assertEqual([path for path in (job.workspace / ".toolcell-ci").rglob("*") if path != job.cached], [])

    def test_bash_does_the_same(self):
        for name in ("test_tools_that_pass", "test_a_test_that_fails", "test_a_source_that_is_refused", "test_another_digest", "test_no_input_is_run"):
            with self.subTest(name):
                test = type(self)(name)
                test.shell = "bash"
                test.debug()

    def test_reports_are_kept_whatever_they_say(self):
        job = gitlab_job({"url": "x", "sha256": "0" * 64, "junit": "a.xml", "sarif": "b.sarif"})
        self.assertEqual(job["artifacts"], {"when": "always", "reports": {"junit": "a.xml"}, "paths": ["a.xml", "b.sarif"]})

    def test_the_archive_is_cached_and_compared_again(self):
        server, cache = self.serve(), self.folder / "cache"
        for _ in range(2):
            job = self.job(url=server.url, sha256=self.sha256, cache=cache, workspace=self.workspace)
            self.assertEqual(job.status, "success", job.log)
        self.assertEqual((len(server.asked), os.listdir(cache)), (1, [NAME]))
        (cache / NAME).write_bytes(b"poisoned")
        job = self.job(url=server.url, sha256=self.sha256, cache=cache, workspace=self.workspace)
        self.assertEqual((job.status, len(server.asked)), ("success", 2), job.log)
        self.assertEqual(hashlib.sha256((cache / NAME).read_bytes()).hexdigest(), digest())

    def test_the_address_may_name_variables(self):
        server = self.serve(at=f"/{self.shell}/{NAME}")
        job = self.job(url="${SERVER}/$FOLDER", sha256=self.sha256, variables={"SERVER": server.url, "FOLDER": self.shell})
        self.assertEqual((job.status, server.asked), ("success", [f"/{self.shell}/{NAME}"]), job.log)

    def test_the_example_does_what_it_says(self):
        (include,) = document(ROOT / "fixtures/ci/gitlab.yml")["include"]
        self.assertEqual(include["local"], ".gitlab/toolcell.yml")
        given = include["inputs"]
        self.assertEqual(given["url"], "$TOOLCELL_URL")
        given["url"] = self.serve().url
        self.assertEqual(self.job(**given).status, "failure")
        given["sha256"] = given["sha256"].replace("0" * 64, digest()).replace("x86_64", packed.ARCH)
        job = self.job(**given)
        self.assertEqual(job.status, "success", job.log)


if __name__ == "__main__":
    unittest.main()
