"""The files of docs/deploy: by their schemas, by the program that they start, and the load balancer in use.

The image of the nodes runs the program `toolcell-cluster`; here it is the one that the other tests run.
"""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import packed
from packed import REPOSITORY, run
from test_ci_actions import check, documents

DEPLOY = REPOSITORY / "docs/deploy"
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR") or packed.CACHE) / "debug/toolcell-cluster"
TOKEN = "a-token-of-the-tests-of-deploying"
# A node does not start without them; no database listens there.
VARIABLES = {"TOOLCELL_SHARED": "postgres://toolcell@127.0.0.1:1/toolcell", "TOOLCELL_SHARED_SECRET": "0a" * 32, "TOOLCELL_MCP_TOKEN": TOKEN}
PATIENCE = 60


def compose():
    (services,) = documents((DEPLOY / "compose.yaml").read_text())
    return services["services"]


def kubernetes():
    return documents((DEPLOY / "kubernetes.yaml").read_text())


class Files(unittest.TestCase):
    def test_compose_reads_its_file(self):
        done = check("check_jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # Each variable that it needs is made by the command in its first lines.
        text = (DEPLOY / "compose.yaml").read_text()
        needed = set(re.findall(r"\$\{(\w+):\?\}", text))
        self.assertEqual(needed, set(re.findall(r'"(\w+)=', text.split("name:")[0])))
        self.assertIn(f"VERSION={packed.version()}", text)

    def test_kubernetes_reads_its_file(self):
        environment = run(REPOSITORY / ".ci/venv", "deploy", Path(__file__).with_name("requirements-deploy.txt")).strip()
        run(f"{environment}/bin/python", "-m", "kubernetes_validate", "--strict", DEPLOY / "kubernetes.yaml")
        kinds = [one["kind"] for one in kubernetes()]
        self.assertEqual(kinds, ["Service", "Service", "PodDisruptionBudget", "StatefulSet"])
        self.assertIn(f"toolcell-cluster:{packed.version()}\n", (DEPLOY / "kubernetes.yaml").read_text())

    def test_what_selects_pods_selects_those_of_the_nodes(self):
        *_, nodes = kubernetes()
        labels = nodes["spec"]["template"]["metadata"]["labels"]
        for one in kubernetes():
            selector = one["spec"]["selector"]
            self.assertEqual(selector.get("matchLabels", selector), labels, one["kind"])

    def test_a_node_has_the_time_that_it_needs_to_end(self):
        # It drains for 5 seconds, lets calls end for 10, and is gone a second later.
        self.assertGreater(int(compose()["node"]["stop_grace_period"].removesuffix("s")), 16)
        *_, nodes = kubernetes()
        self.assertGreater(nodes["spec"]["template"]["spec"]["terminationGracePeriodSeconds"], 16)

    def test_the_program_takes_the_arguments(self):
        *_, nodes = kubernetes()
        (container,) = nodes["spec"]["template"]["spec"]["containers"]
        for words in (compose()["node"]["command"], container["args"]):
            with tempfile.TemporaryDirectory(dir=packed.SCRATCH) as folder:
                # The files are those that the guide says.
                for name, text in (("secret", "0a" * 32), ("tokens.toml", f"[principals.alice]\ntoken = '{TOKEN}'\n")):
                    file = Path(folder, name)
                    file.write_text(text)
                    file.chmod(0o600)
                words = [word.replace("0.0.0.0:8080", "127.0.0.1:0").replace("/etc/toolcell", folder) for word in words]
                command = [PROGRAM, "--lang", "en", "--no-project", "--dir", f"{folder}/store", *words]
                with_files = any(word.startswith("--secret") for word in words)
                given = {"TOOLCELL_SHARED": VARIABLES["TOOLCELL_SHARED"]} if with_files else VARIABLES
                done = subprocess.run(command, env=given, capture_output=True, text=True, stdin=subprocess.DEVNULL)
                # The arguments are right, and there is no database.
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("the shared library cannot be reached", done.stderr)

    def test_the_variables_are_those_of_the_program(self):
        *_, nodes = kubernetes()
        (container,) = nodes["spec"]["template"]["spec"]["containers"]
        given = [set(compose()["node"]["environment"]), {one["name"] for one in container["env"]}]
        guide = (REPOSITORY / "docs/guide/cluster.md").read_text() + (REPOSITORY / "docs/guide/mcp.md").read_text()
        self.assertLessEqual({"TOOLCELL_SHARED", "TOOLCELL_SHARED_SECRET", "TOOLCELL_MCP_TOKEN"}, given[0])
        for name in given[0] | given[1]:
            self.assertIn(f"`{name}`", guide)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def eventually(what, look):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if look():
                return
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


class Balanced(unittest.TestCase):
    """The configuration of the load balancer, in front of three nodes that are restarted."""

    def setUp(self):
        packed.need("haproxy")
        given = os.environ.get("TOOLCELL_TEST_POSTGRES")
        folders = [Path(given)] if given else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not folders:
            self.skipTest("there is no PostgreSQL server (apt-get install postgresql)")
        self.programs = folders[-1]
        self.folder = Path(tempfile.mkdtemp(prefix="toolcell-deploy-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.processes = {}
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait()

    def start(self, name, command, **options):
        log = open(self.folder / f"{name}.log", "ab")
        with log:
            self.processes[name] = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)

    def start_database(self):
        data, self.database = self.folder / "postgres/data", free_port()
        data.parent.mkdir()
        # The server refuses to run as root.
        user = {"user": "postgres"} if os.geteuid() == 0 else {}
        if user:
            self.folder.chmod(0o755)
            shutil.chown(data.parent, "postgres")
        run(self.programs / "initdb", "--no-sync", "--auth=trust", "--username=toolcell", f"--pgdata={data}", **user)
        self.start("postgres", [self.programs / "postgres", "-D", data, "-h", "127.0.0.1", "-p", self.database, "-k", data.parent, "-c", "fsync=off"], **user)
        ask = [self.programs / "psql", "-h", "127.0.0.1", "-p", str(self.database), "-U", "toolcell", "-d", "postgres", "-c", "CREATE DATABASE toolcell"]
        eventually("the database", lambda: subprocess.run(ask, capture_output=True).returncode == 0)

    def start_node(self, name, port):
        environment = VARIABLES | {"TOOLCELL_SHARED": f"postgres://toolcell@127.0.0.1:{self.database}/toolcell", "HOME": str(self.folder)}
        environment["TOOLCELL_SHARED_TIMEOUT_MS"] = "5000"
        command = [PROGRAM, "--lang", "en", "--no-project", "--config", self.policy, "--dir", self.folder / name, "node", "--http", f"127.0.0.1:{port}"]
        self.start(name, command, env=environment)
        eventually(name, lambda: self.ask(port, "GET", "/readyz")[0] == 200)

    def ask(self, port, method, path, body=None, headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def call(self, port, operation, arguments):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": operation, "arguments": arguments, "_meta": meta}
        headers = {
            "Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
            "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": operation,
        }
        status, answer = self.ask(port, "POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}), headers)
        if status != 200 or '"isError":false' not in answer:
            raise AssertionError(f"{operation}: {status} {answer}")

    def test_no_call_fails_while_the_nodes_are_restarted(self):
        self.policy = self.folder / "policy.toml"
        self.policy.write_text("[approval]\nmode = 'auto'\n")
        self.start_database()
        ports = {f"node-{number}": free_port() for number in range(3)}
        for name, port in ports.items():
            self.start_node(name, port)
        balancer = free_port()
        text = (DEPLOY / "haproxy.cfg").read_text()
        servers = "\n".join(f"  server {name} 127.0.0.1:{port} check" for name, port in ports.items())
        for there, here in ((" resolvers docker init-addr none", ""), ("  server-template node 10 node:8080 check", servers), ("bind :8080", f"bind 127.0.0.1:{balancer}")):
            self.assertIn(there, text)
            text = text.replace(there, here)
        (self.folder / "haproxy.cfg").write_text(text)
        run("haproxy", "-c", "-f", DEPLOY / "haproxy.cfg")
        self.start("haproxy", ["haproxy", "-f", self.folder / "haproxy.cfg"])
        eventually("the load balancer", lambda: self.ask(balancer, "GET", "/healthz", headers={"Host": "localhost"})[0] == 200)
        self.call(balancer, "create_tool", {"name": "one", "description": "A tool of a test", "code": "const execute = () => 1"})
        ended, calls, failures = threading.Event(), [0] * 4, []

        def work(worker):
            while not ended.is_set():
                try:
                    if calls[worker] % 10 == 0:
                        draft = {"name": f"tool_{worker}_{calls[worker]}", "description": "A tool of a test", "code": "const execute = () => 2"}
                        self.call(balancer, "create_tool", draft)
                    else:
                        self.call(balancer, "run_dynamic_tool", {"tool_name": "one", "parameters": {}})
                except (AssertionError, OSError, http.client.HTTPException) as error:
                    failures.append(repr(error))
                calls[worker] += 1
                time.sleep(0.02)

        workers = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
        for worker in workers:
            worker.start()
        try:
            for name, port in ports.items():
                process = self.processes[name]
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(PATIENCE), 0, (self.folder / f"{name}.log").read_text())
                self.start_node(name, port)
                # The load balancer takes it back.
                time.sleep(2.5)
        finally:
            ended.set()
            for worker in workers:
                worker.join()
        self.assertEqual((failures, len([count for count in calls if count > 20])), ([], 4), f"{sum(calls)} calls")
