"""What a program in a cell pays for the tools of an MCP server, in turns with modebox: `bench.py TOOLCELL ECHO`, in an environment
with `modebox` and `mcp`; `tests/bridge/run` installs them there (`make bench-servers`). `ECHO` is the server: the example `echo` of
`crates/bridge`. MODEBOX_CLI may name modebox's own program, which is no part of its package, to measure it as well.

Invariant: all peers run the same code, call the same server, and are asked by the same client over pipes; what is subtracted was
measured in the same turn. A missed target is printed and is no failure, because the load of the machine is not under our control.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "30"))
FIRST_CALLS = int(os.environ.get("BENCH_FIRST_CALLS", "10"))
# The calls of a run.
CALLS = 100
# The runs of a tool that calls nothing.
RUNS = 50 * ROUNDS
LEAST_TIMES_FASTER = 5
MOST_OVERHEAD = 0.3e-3
MOST_TIMES_SLOWER = 1.03
# What the others are compared with.
BASE = "toolcell"

# What code does with `call`, which has the server return a number as a text; and what that returns.
TEXTS = "".join(map(str, range(CALLS)))
BODIES = {
    "none": ("return 0", 0),
    "one": ("return (await call(7)).length", 1),
    "sequential": (f"let n = 0; for (let i = 0; i < {CALLS}; i++) n += (await call(i)).length; return n", len(TEXTS)),
    "at once": (f"return (await Promise.all(Array.from({{ length: {CALLS} }}, (_, i) => call(i)))).join('').length", len(TEXTS)),
}


class Process:
    """A program that answers lines with lines."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.started = time.perf_counter()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, bufsize=0)
        self.rest = b""

    def send(self, line: bytes) -> None:
        os.write(self.process.stdin.fileno(), line)

    def receive(self) -> bytes:
        while b"\n" not in self.rest:
            read = os.read(self.process.stdout.fileno(), 1 << 16)
            if not read:
                raise RuntimeError(f"{self.process.args} ended with {self.process.wait()}")
            self.rest += read
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def ask(self, line: bytes) -> bytes:
        self.send(line)
        while (answer := self.receive()).startswith(b'{"jsonrpc":"2.0","method":'):
            pass  # A notification, such as that there is a new tool.
        return answer

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def message(method: str, params: dict, **id: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **id}).encode() + b"\n"


def call(tool: str, arguments: dict) -> bytes:
    return message("tools/call", {"name": tool, "arguments": arguments}, id=1)


def connect(command: list[str], environment: dict[str, str] | None = None) -> Process:
    """Starts an MCP server, and begins a session."""
    server = Process(command, environment)
    client = {"name": "bench", "version": "1"}
    server.ask(message("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}, id=0))
    server.send(message("notifications/initialized", {}))
    return server


class Peer(NamedTuple):
    """What runs code."""

    start: Callable[[], Process]
    # The request that has a body run, where `call` is a function.
    request: Callable[[str], bytes]
    # What an answer says that it returned.
    value: Callable[[dict], object]

    def time(self, process: Process, kind: str) -> float:
        """Runs a body, and returns how long it took, in seconds."""
        body, expected = BODIES[kind]
        request = self.request(body)
        began = time.perf_counter()
        answer = process.ask(request)
        took = time.perf_counter() - began
        try:
            value = self.value(json.loads(answer))
        except KeyError:
            value = None
        if value != expected:
            raise ValueError(f"it answers {answer[:1000]!r}")
        return took

    def time_first(self) -> float:
        """Starts the program, and returns how long it took until it had run a call, in seconds."""
        with closing(self.start()) as process:
            self.time(process, "one")
            return time.perf_counter() - process.started


def toolcell(program: str, echo: str, folder: Path) -> Peer:
    policy = folder / "toolcell.toml"
    policy.write_text(
        '[approval]\nmode = "auto"\n\n'
        f'[servers.echo]\ncommand = ["{echo}"]\n\n[grants.drafts.servers]\necho = "any"\n'
    )
    options = ["--no-project", "--lang", "en", "--config", str(policy), "--dir", str(folder / "store")]

    def code(body: str) -> str:
        return f"const execute = async () => {{ const call = async (n) => (await servers.echo.echo({{ text: `${{n}}` }})).text; {body} }}"

    return Peer(
        lambda: connect([program, *options, "mcp"]),
        lambda body: call("run_code", {"code": code(body), "parameters": {}}),
        lambda answer: answer["result"]["structuredContent"]["value"],
    )


def modebox_script(body: str) -> str:
    return f"return await (async () => {{ const call = async (n) => (await echo.echo({{ text: `${{n}}` }})).text; {body} }})()"


def modebox(client: str, echo: str) -> Peer:
    host = str(Path(__file__).with_name("modebox_host.py"))
    return Peer(
        lambda: Process([sys.executable, host, client, echo]),
        lambda body: json.dumps(modebox_script(body)).encode() + b"\n",
        lambda answer: answer["value"],
    )


def modebox_cli(program: str, echo: str, folder: Path) -> Peer:
    config = folder / "modebox.json"
    config.write_text(json.dumps({"mcpServers": {"echo": {"command": echo}}}))
    return Peer(
        lambda: connect([program, "mcp", "-c", str(config)]),
        lambda body: call("execute", {"code": modebox_script(body)}),
        lambda answer: answer["result"]["structuredContent"]["result"],
    )


def stored_tool(program: str, policy: str, folder: Path) -> Process:
    """Starts Toolcell with a policy and a tool that calls nothing."""
    folder.mkdir(parents=True)
    (folder / "toolcell.toml").write_text(f'[approval]\nmode = "auto"\n{policy}')
    options = ["--no-project", "--lang", "en", "--config", str(folder / "toolcell.toml"), "--dir", str(folder / "store")]
    process = connect([program, *options, "mcp"])
    tool = {"name": "double", "description": "Doubles a number", "code": "const execute = ({ n }) => 2 * n"}
    if json.loads(process.ask(call("create_tool", tool)))["result"].get("isError"):
        raise ValueError("the tool cannot be created")
    return process


def show_without_servers(program: str, echo: str, folder: Path) -> None:
    """Measures what a run of a stored tool that calls no server pays for one in the policy."""
    run = call("run_dynamic_tool", {"tool_name": "double", "parameters": {"n": 21}})

    def one(process: Process) -> float:
        began = time.perf_counter()
        answer = process.ask(run)
        took = time.perf_counter() - began
        if json.loads(answer).get("result", {}).get("structuredContent", {}).get("value") != 42:
            raise ValueError(f"it answers {answer[:1000]!r}")
        return took

    with ExitStack() as stack:
        policies = {"plain": "", "servers": f'[servers.echo]\ncommand = ["{echo}"]\n'}
        processes = [
            stack.enter_context(closing(stored_tool(program, policy, folder / name))) for name, policy in policies.items()
        ]
        turns = [[one(process) for process in processes] for _ in range(200 + RUNS)][200:]
    plain, servers = zip(*turns, strict=True)
    times = statistics.median(with_server / without for without, with_server in turns)
    print(f"\na stored tool that calls nothing, {RUNS} turns")
    print(f"  without servers          p50 {statistics.median(plain) * 1e3:9.3f} ms")
    verdict = "ok" if times <= MOST_TIMES_SLOWER else "missed"
    print(f"  with one in the policy   p50 {statistics.median(servers) * 1e3:9.3f} ms {times:8.3f} ×   {verdict}: at most {MOST_TIMES_SLOWER} ×")


class Costs(NamedTuple):
    """What the runs of a turn cost, in seconds: a run without calls, and what is added by one call, by each of many, and by many at once."""

    none: float
    one: float
    each: float
    at_once: float


def median_of(count: int, measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(count))


def turn(peer: Peer, process: Process) -> Costs:
    none = median_of(5, lambda: peer.time(process, "none"))
    one = median_of(5, lambda: peer.time(process, "one"))
    sequential = median_of(3, lambda: peer.time(process, "sequential"))
    at_once = median_of(3, lambda: peer.time(process, "at once"))
    return Costs(none, one - none, (sequential - none) / CALLS, at_once - none)


def turn_of_server(server: Process) -> Costs:
    """Measures what the server itself takes: from request to answer, and for many requests that are sent at once."""
    request = call("echo", {"text": "7"})

    def one() -> float:
        began = time.perf_counter()
        server.ask(request)
        return time.perf_counter() - began

    def many() -> float:
        began = time.perf_counter()
        server.send(request * CALLS)
        for _ in range(CALLS):
            server.receive()
        return time.perf_counter() - began

    answer = median_of(200, one)
    return Costs(0, answer, answer, median_of(5, many))


def show(title: str, costs: dict[str, list[float]], of_server: list[float] | None = None) -> None:
    """Prints medians, how many times faster the base is, and the same without what the server takes."""
    print(f"\n{title}")
    base = costs[BASE]
    for name, taken in costs.items():
        line = f"  {name:<24} p50 {statistics.median(taken) * 1e3:9.3f} ms"
        if name != BASE:
            times = statistics.median(theirs / ours for theirs, ours in zip(taken, base, strict=True))
            line += f" {times:8.1f} ×"
            if of_server:
                net = zip(taken, base, of_server, strict=True)
                without = statistics.median((theirs - server) / max(ours - server, 1e-9) for theirs, ours, server in net)
                line += f", without the server {without:8.1f} ×"
            line += f"   {'ok' if times >= LEAST_TIMES_FASTER else 'missed'}: at least {LEAST_TIMES_FASTER} ×"
        print(line)
    if of_server:
        print(f"  {'the server itself':<24} p50 {statistics.median(of_server) * 1e3:9.3f} ms")


def main(program: str, echo: str) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        peers = {
            BASE: toolcell(program, echo, folder),
            "modebox, official client": modebox("sdk", echo),
            "modebox, minimal client": modebox("plain", echo),
        }
        if cli := os.environ.get("MODEBOX_CLI"):
            peers["modebox's own program"] = modebox_cli(cli, echo, folder)

        first: dict[str, list[float]] = {name: [] for name in peers}
        for number in range(FIRST_CALLS + 1):
            for name, peer in peers.items():
                took = peer.time_first()
                # The first one makes the store, and fills caches.
                first[name] += [took] if number else []
        show(f"from the start of the program to the result of the first call, {FIRST_CALLS} turns", first)

        processes = {name: stack.enter_context(closing(peer.start())) for name, peer in peers.items()}
        server = stack.enter_context(closing(connect([echo])))
        costs: dict[str, list[Costs]] = {name: [] for name in peers}
        of_server = []
        for number in range(ROUNDS + 1):
            for name, peer in peers.items():
                taken = turn(peer, processes[name])
                costs[name] += [taken] if number else []
            taken = turn_of_server(server)
            of_server += [taken] if number else []

        show_without_servers(program, echo, folder / "stored")

    def column(name: str) -> tuple[dict[str, list[float]], list[float]]:
        of_peers = {peer: [getattr(cost, name) for cost in taken] for peer, taken in costs.items()}
        return of_peers, [getattr(cost, name) for cost in of_server]

    show(f"a run that calls nothing, {ROUNDS} turns", column("none")[0])
    show("one call in a run", *column("one"))
    show(f"a call, of {CALLS} one after the other in a run", *column("each"))
    show(f"{CALLS} calls in `Promise.all`", *column("at_once"))
    ours, servers = column("each")[0][BASE], column("each")[1]
    overhead = statistics.median(call - answer for call, answer in zip(ours, servers, strict=True))
    verdict = "ok" if overhead <= MOST_OVERHEAD else "missed"
    print(f"\noverhead of a call over the server's own answer: p50 {overhead * 1e3:.3f} ms   {verdict}: at most {MOST_OVERHEAD * 1e3} ms")


main(*sys.argv[1:])
