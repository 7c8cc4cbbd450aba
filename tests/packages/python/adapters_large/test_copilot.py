"""The Copilot SDK: the real runtime, with a scripted model. `COPILOT_RUNTIME` is the path of `copilot-runtime`, which npm
has (`@github/copilot-sdk`) and the Python package would download."""

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path

import httpx
from copilot import CopilotClient, CopilotRequestHandler, RuntimeConnection
from copilot.rpc import (
    PermissionDecisionApproveForSession,
    PermissionDecisionApproveOnce,
    PermissionDecisionReject,
)
from copilot.session_events import PermissionRequestCustomTool, PermissionRequestShell
from copilot.tools import ToolInvocation

sys.path.append(str(Path(__file__).parents[1] / "adapters"))

from agent_box import NUMBER, PIXEL, WatchedBox, agent_box, replace_later, run

from toolcell.copilot import toolcell_tools


class ScriptedModel(CopilotRequestHandler):
    """Says what a script says: calls of tools, each `(name, arguments)`, and then "done"."""

    def __init__(self, *script):
        super().__init__()
        self.script, self.requests = list(script), []

    async def send_request(self, request, context):
        if not str(request.url).endswith("chat/completions"):
            return httpx.Response(404, json={})
        self.requests.append(json.loads(await request.aread()))
        calls = self.script.pop(0) if self.script else []
        tool_calls = [
            {
                "index": at,
                "id": f"call_{len(self.requests)}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            for at, (name, args) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": None, "tool_calls": tool_calls}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        if not calls:
            choice = {"index": 0, "message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice], "usage": usage}
        return httpx.Response(200, json=body)

    def results(self):
        """What the model has read as results of tools."""
        return [json.dumps(one["content"]) for one in self.requests[-1]["messages"] if one["role"] == "tool"]


class Person:
    """Answers permission requests, and keeps what was asked."""

    def __init__(self, answer=None, meanwhile=None):
        self.answer, self.meanwhile, self.asked = answer or PermissionDecisionApproveOnce(), meanwhile, []

    async def __call__(self, request, invocation):
        self.asked.append((request, invocation))
        if self.meanwhile is not None:
            await self.meanwhile
        return self.answer


@contextlib.asynccontextmanager
async def session_of(box, folder, model, person):
    tools, on_permission_request = await toolcell_tools(box, person)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    runtime = RuntimeConnection.for_stdio(path=os.environ["COPILOT_RUNTIME"])
    client = CopilotClient(
        connection=runtime, request_handler=model, working_directory=str(home), env={**os.environ, "HOME": str(home)}
    )
    await client.start()
    try:
        provider = {"type": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key": "none"}
        yield await client.create_session(
            model="fake", provider=provider, tools=tools, on_permission_request=on_permission_request
        )
    finally:
        await client.stop()


async def go(box, folder, script, person=None):
    model = ScriptedModel(*script)
    async with session_of(box, folder, model, person or Person()) as session:
        await session.send_and_wait("go", timeout=60)
    return model


def test_the_tools_are_offered_with_their_schemas(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            definitions = await box.definitions()
            tools, _ = await toolcell_tools(box, Person())
            assert {one.name: one.parameters for one in tools} == {one.name: one.input_schema for one in definitions}
            assert NUMBER in [one.parameters for one in tools]
            # The runtime itself writes some keywords into descriptions, for some models.
            model = await go(box, tmp_path, [])
            offered = {tool["function"]["name"]: tool["function"]["description"] for tool in model.requests[0]["tools"]}
            assert offered.items() >= {one.name: one.description for one in definitions}.items()

    asyncio.run(main())


def test_a_success_a_failure_and_an_image(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            person = Person()
            script = [[("toolcell__twice", {"n": 21})], [run("throws")], [run("image")]]
            model = await go(box, tmp_path, script, person)
            twice, throws, image = model.results()
            assert "42" in twice and "out of range" in throws and "a dot" in image
            assert person.asked == []
            # The runtime sends images to models that it knows to see.
            tools, _ = await toolcell_tools(box, person)
            (tool,) = (one for one in tools if one.name == "run_dynamic_tool")
            result = await tool.handler(ToolInvocation(arguments=run("image")[1]))
            assert [(one.type, one.mime_type, one.data) for one in result.binary_results_for_llm] == [("image", "image/png", PIXEL)]

    asyncio.run(main())


def test_a_call_that_needs_an_approval_is_a_permission_request(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            person = Person(PermissionDecisionApproveForSession())
            first, second = (await go(box, tmp_path, [[run("later", n=1)], [run("later", n=5)]], person)).results()
            assert "2" in first and "6" in second
            # A yes is for one call.
            assert len(person.asked) == 2
            for request, invocation in person.asked:
                assert isinstance(request, PermissionRequestCustomTool) and "setTimeout" in request.tool_description
                assert invocation["prompt_request"].tool_description == request.tool_description

    asyncio.run(main())


def test_a_refusal_and_a_tool_that_was_replaced_after_the_question(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            person = Person(PermissionDecisionReject(feedback="not now"))
            (refused,) = (await go(box, tmp_path, [[run("later", n=1)]], person)).results()
            assert "not now" in refused
            person = Person(meanwhile=replace_later(box))
            (refused,) = (await go(box, tmp_path, [[run("later", n=1)]], person)).results()
            assert "approv" in refused and "replaced" not in refused

    asyncio.run(main())


def test_other_tools_are_for_the_given_handler(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            person = Person(PermissionDecisionReject(feedback="no shell"))
            script = [[("bash", {"command": "touch made", "description": "x"})]]
            (refused,) = (await go(box, tmp_path, script, person)).results()
            assert "no shell" in refused and isinstance(person.asked[0][0], PermissionRequestShell)

    asyncio.run(main())


def test_a_call_that_an_organisation_wants_approved_is_asked_about(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            person = Person(PermissionDecisionReject())
            _, permit = await toolcell_tools(box, person)
            request = PermissionRequestCustomTool("Doubles", "toolcell__twice", {"n": 1}, "1")
            assert isinstance(await permit(request, {"session_id": "s"}), PermissionDecisionApproveOnce)
            request.managed_approval_required = True
            assert isinstance(await permit(request, {"session_id": "s"}), PermissionDecisionReject)

    asyncio.run(main())


def test_an_abort_ends_an_endless_loop(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            watched = WatchedBox(box)
            model = ScriptedModel([("toolcell__spin", {})])
            async with session_of(watched, tmp_path, model, Person()) as session:
                await session.send("go")
                await asyncio.wait_for(watched.began.wait(), 20)
                await session.abort()
                await asyncio.wait_for(watched.cancelled.wait(), 2)

    asyncio.run(main())
