"""The whole story of an agent and its tools, told by the official Python client: `story.py REVISION WAY TOOLCELL`, where WAY
is `{"url"}` or `{"command", "args", "cwd", "env"}`. `story.mjs` tells the same one, and says what is behind the steps.

Each check is a line of JSON on standard output: `{"name", "reason"?}`; the reason says why it does not hold.

Invariant: a result that the client takes has passed the output schema of its operation: the client checks that by itself.
"""

import json
import pathlib
import re
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult

OPERATIONS = ["create_tool", "run_dynamic_tool", "list_dynamic_tools", "delete_dynamic_tool", "tool_reflection", "verify_dynamic_tool", "run_code"]
TOOLS = json.loads(pathlib.Path(__file__).with_name("tools.json").read_text())
#: How long a run may take to end that nobody waits for any more, in seconds.
PATIENCE = 10


@asynccontextmanager
async def step(name):
    """Does a check, and prints what came of it. The next one runs in any case."""
    try:
        yield
    except Exception as error:  # whatever it is, it is a failure of this check
        causes = getattr(error, "exceptions", [error])
        print(json.dumps({"name": name, "reason": "; ".join(f"{type(it).__name__}: {it}" for it in causes)}), flush=True)
    else:
        print(json.dumps({"name": name}), flush=True)


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def matches(pattern, text):
    assert re.search(pattern, text), f"{text!r} does not match {pattern!r}"


def text_of(result):
    return "\n".join(block.text for block in result.content)


def code_of(result):
    """The code of a failure, which has no value beside it."""
    assert result.is_error, f"no failure: {text_of(result)}"
    equal(result.structured_content, None)
    return result.meta["toolcell/error"]["code"]


class Person:
    """Who answers questions, and remembers them."""

    def __init__(self):
        self.asked = []
        self.approves = True

    async def answer(self, context, question):
        self.asked.append(question)
        if self.approves:
            return ElicitResult(action="accept", content={"decision": "approve"})
        return ElicitResult(action="decline")


async def make(client, tool):
    result = await client.call_tool("create_tool", TOOLS[tool])
    assert not result.is_error, text_of(result)
    return result.structured_content


async def start(client, tool, parameters=None, **options):
    return await client.call_tool("run_dynamic_tool", {"tool_name": tool, "parameters": parameters or {}}, **options)


async def operations(client):
    async with step("lists the operations, always the same"):
        tools = (await client.list_tools(cache_mode="refresh")).tools
        equal([tool.name for tool in tools], OPERATIONS)
        equal((await client.list_tools(cache_mode="refresh")).tools, tools)
        for tool in tools:
            equal((tool.input_schema["type"], tool.output_schema["type"]), ("object", "object"))
            equal(tool.annotations.destructive_hint, tool.name == "delete_dynamic_tool")


async def reflection(client):
    async with step("reflects"):
        asked = {"task_description": "Convert these 40 CSV files to JSON", "last_tool_result": "a.csv: 3 rows"}
        result = await client.call_tool("tool_reflection", asked)
        equal(result.structured_content["decision"], "create")
        matches(r"create_tool\(", text_of(result))


async def approval(client, person):
    async with step("creates a tool that has to be approved"):
        matches(r"^dt_[0-9a-f]{12}$", (await make(client, "later"))["id"])
        equal(person.asked, [])

    async with step("is asked, approves, and the tool runs"):
        result = await start(client, "later", {"ms": 5})
        equal(result.structured_content["value"], "after 5")
        equal(len(person.asked), 1)
        matches("later", person.asked[0].message)
        matches("timers", person.asked[0].message)

    async with step("is not asked again"):
        equal((await start(client, "later", {"ms": 1})).structured_content["value"], "after 1")
        equal(len(person.asked), 1)

    async with step("declines, and the tool does not run"):
        await make(client, "never")
        person.approves = False
        result = await start(client, "never")
        person.approves = True
        equal(code_of(result), "permission-denied")
        equal(len(person.asked), 2)


async def runs(client):
    async with step("watches a run"):
        await make(client, "steps")
        notices = []

        async def watch(progress, total, message):
            notices.append((progress, message))

        result = await start(client, "steps", {"n": 5}, progress_callback=watch)
        equal(result.structured_content["value"], 5)
        told = [json.loads(message) for _, message in notices if message and "step" in message]
        equal(told, [{"step": n} for n in range(1, 6)])
        progress = [progress for progress, _ in notices]
        equal(progress, sorted(set(progress)))

    async with step("cancels an endless run"):
        await make(client, "endless")
        began = time.monotonic()
        with anyio.CancelScope() as scope:

            async def enough(progress, total, message):
                scope.cancel()

            await start(client, "endless", progress_callback=enough)
        assert scope.cancelled_caught, "it ended by itself"
        assert time.monotonic() - began < PATIENCE, "it took too long"
        assert (await client.list_tools(cache_mode="refresh")).tools


async def failures(client):
    async with step("lists what there is"):
        listed = (await client.call_tool("list_dynamic_tools", {})).structured_content
        equal(len(listed["tools"]), 4)
        some = (await client.call_tool("list_dynamic_tools", {"name": "STE"})).structured_content
        equal([tool["name"] for tool in some["tools"]], ["steps"])

    async with step("a tool that fails is an error with a code, and no value"):
        await make(client, "broken")
        result = await start(client, "broken")
        equal(code_of(result), "tool-failed")
        matches("it is broken", text_of(result))

    async with step("what is asked for wrongly is an error with a code"):
        equal(code_of(await start(client, "nobody")), "tool-not-found")
        equal(code_of(await start(client, "later")), "parameters-missing")
        equal(code_of(await client.call_tool("create_tool", TOOLS["later"])), "name-taken")
        equal(code_of(await client.call_tool("create_tool", TOOLS["dangerous"])), "critical-risk")


async def resources(client):
    async with step("reads the source of a tool, and the log"):
        found = (await client.list_resources()).resources
        source = next(resource for resource in found if resource.name == "later")
        equal((await client.read_resource(source.uri)).contents[0].text, TOOLS["later"]["code"])
        log = (await client.read_resource("toolcell://audit")).contents[0].text
        lines = [json.loads(line) for line in log.splitlines()]
        assert any(line["toolName"] == "broken" and line["error"] == "tool-failed" for line in lines), log
        try:
            await client.read_resource("toolcell://tools/dt_00000000/source")
        except MCPError:
            pass
        else:
            raise AssertionError("there is no such tool")

    async with step("gets the prompt"):
        prompt = (await client.list_prompts()).prompts[0]
        message = (await client.get_prompt(prompt.name, {"task": "Count words"})).messages[0]
        matches("create_tool", message.content.text)
        matches("Count words", message.content.text)


async def deletion(client):
    async with step("deletes nothing without a word, and with it the tool"):
        equal(code_of(await client.call_tool("delete_dynamic_tool", {"tool_name": "steps"})), "confirm-required")
        equal((await start(client, "steps", {"n": 1})).structured_content["value"], 1)
        result = await client.call_tool("delete_dynamic_tool", {"tool_name": "steps", "confirm": True})
        equal(result.structured_content["name"], "steps")
        equal(code_of(await start(client, "steps", {"n": 1})), "tool-not-found")


async def log(toolcell):
    async with step("what was cancelled is recorded as cancelled"):
        until, errors = time.monotonic() + PATIENCE, []
        while "cancelled" not in errors and time.monotonic() < until:
            done = await anyio.run_process([toolcell, "audit", "--json"], stderr=subprocess.PIPE)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            runs = [line for line in lines if (line.get("toolName"), line["action"]) == ("endless", "run_dynamic_tool")]
            errors = [line.get("error") for line in runs]
        assert "cancelled" in errors, f"the runs ended as {errors}"


async def main(revision, way, toolcell):
    person = Person()
    server = way["url"] if "url" in way else StdioServerParameters(**way)
    mode = "auto" if revision == "2026-07-28" else "legacy"
    async with step("connects, and closes"):
        async with Client(server, mode=mode, elicitation_callback=person.answer) as client:
            async with step("speaks the revision"):
                equal(client.protocol_version, revision)
                equal(client.server_info.name, "toolcell")
            await operations(client)
            await reflection(client)
            await approval(client, person)
            await runs(client)
            await failures(client)
            await resources(client)
            await deletion(client)
    await log(toolcell)


anyio.run(main, sys.argv[1], json.loads(sys.argv[2]), sys.argv[3])
