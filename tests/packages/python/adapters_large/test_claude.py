"""The Claude Agent SDK: the real Claude Code, which the SDK brings, with a scripted model."""

import asyncio
import contextlib
import json
import sys
import time
from pathlib import Path

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
)
from mcp import Client
from scripted_anthropic import ScriptedModel, serve

sys.path.append(str(Path(__file__).parents[1] / "adapters"))

from agent_box import NUMBER, WatchedBox, agent_box, replace_later, run

from toolcell.claude import toolcell_server

pytestmark = pytest.mark.filterwarnings("ignore::claude_agent_sdk.CanUseToolShadowedWarning")


def calls(*those):
    return [(f"mcp__toolcell__{name}", args) for name, args in those]


class Person:
    """Answers permission requests, and keeps what was asked."""

    def __init__(self, answer=None, meanwhile=None):
        self.answer, self.meanwhile, self.asked = answer or PermissionResultAllow(), meanwhile, []

    async def __call__(self, tool, args, context):
        self.asked.append((tool, context.description or ""))
        if self.meanwhile is not None:
            await self.meanwhile
        return self.answer


@contextlib.asynccontextmanager
async def client_of(box, folder, model, person, **more):
    servers, can_use_tool = await toolcell_server(box, person)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    with serve(model) as url:
        env = {
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / "claude"),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            # Else the schemas of most tools are sent when they are searched for.
            "ENABLE_TOOL_SEARCH": "false",
        }
        options = ClaudeAgentOptions(
            mcp_servers=servers, can_use_tool=can_use_tool, setting_sources=[], strict_mcp_config=True, cwd=home, env=env, **more
        )
        async with ClaudeSDKClient(options) as client:
            yield client


async def go(box, folder, script, person=None, **more):
    model = ScriptedModel(*script)
    async with client_of(box, folder, model, person or Person(), **more) as client:
        await client.query("go")
        async for _ in client.receive_response():
            pass
    return model


def test_the_tools_are_offered_with_their_schemas(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            model = await go(box, tmp_path, [])
            offered = {tool["name"].removeprefix("mcp__toolcell__"): tool for tool in model.requests[0]["tools"]}
            assert offered["toolcell__twice"]["input_schema"] == NUMBER
            for one in await box.definitions():
                assert offered[one.name]["input_schema"] == one.input_schema
                assert offered[one.name]["description"] == one.description

    asyncio.run(main())


def test_a_success_a_failure_and_an_image(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            script = [calls(("toolcell__twice", {"n": 21}), run("throws"), run("image"))]
            person = Person()
            (twice, throws, image) = (await go(box, tmp_path, script, person)).results()
            assert twice[0] is False and "42" in json.dumps(twice[1])
            assert throws[0] is True and "out of range" in json.dumps(throws[1])
            assert image[1][1]["type"] == "image"
            assert person.asked == []

    asyncio.run(main())


def test_a_call_that_needs_an_approval_is_a_permission_request(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            rule = PermissionUpdate(type="setMode", mode="bypassPermissions", destination="session")
            person = Person(PermissionResultAllow(updated_permissions=[rule]))
            script = [calls(run("later", n=1)), calls(run("later", n=1))]
            first, second = (await go(box, tmp_path, script, person)).results()
            assert not first[0] and not second[0] and "2" in json.dumps(first[1])
            # A yes is for one call.
            assert [tool for tool, _ in person.asked] == ["mcp__toolcell__run_dynamic_tool"] * 2
            assert all("setTimeout" in description for _, description in person.asked)

    asyncio.run(main())


def test_a_refusal_and_a_tool_that_was_replaced_after_the_question(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            person = Person(PermissionResultDeny(message="not now"))
            ((is_error, content),) = (await go(box, tmp_path, [calls(run("later", n=1))], person)).results()
            assert is_error and "not now" in json.dumps(content)
            person = Person(meanwhile=replace_later(box))
            ((is_error, content),) = (await go(box, tmp_path, [calls(run("later", n=1))], person)).results()
            assert is_error and "approv" in json.dumps(content) and "replaced" not in json.dumps(content)

    asyncio.run(main())


def test_what_is_allowed_without_asking_is_refused_if_it_needs_an_approval(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            person = Person()
            script = [calls(run("later", n=1), run("image"))]
            model = await go(box, tmp_path, script, person, allowed_tools=["mcp__toolcell__run_dynamic_tool"])
            later, image = model.results()
            assert later[0] and "approv" in json.dumps(later[1]) and not image[0] and person.asked == []

    asyncio.run(main())


def test_other_tools_are_for_the_given_callback(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            person = Person(PermissionResultDeny(message="no shell"))
            script = [[("Bash", {"command": "touch made", "description": "x"})]]
            ((is_error, content),) = (await go(box, tmp_path, script, person)).results()
            assert is_error and "no shell" in json.dumps(content) and person.asked[0][0] == "Bash"

    asyncio.run(main())


def test_what_is_not_offered_is_not_called(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            servers, _ = await toolcell_server(box, Person(), operations=["list_dynamic_tools"], published=0)
            async with Client(servers["toolcell"]["instance"]) as client:
                assert [tool.name for tool in (await client.list_tools()).tools] == ["list_dynamic_tools"]
                for name, args in (run("image"), ("toolcell__twice", {"n": 1})):
                    result = await client.call_tool(name, args)
                    assert result.is_error and "not offered" in result.content[0].text

    asyncio.run(main())


def test_a_pattern_of_a_schema_costs_this_process_nothing(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            schema = {"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a+)+$"}}, "required": ["s"]}
            await box.create("slow", "Says", "const execute = ({ s }) => s", parameters=schema)
            await box.approve("slow")
            model = ScriptedModel(calls(("toolcell__slow", {"s": "a" * 40 + "!"})))
            async with client_of(box, tmp_path, model, Person()) as client:
                await client.query("go")
                began = time.monotonic()
                async for _ in client.receive_response():
                    pass
                assert time.monotonic() - began < 10
            ((is_error, _),) = model.results()
            assert is_error

    asyncio.run(main())


def test_an_interrupt_ends_an_endless_loop(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            watched = WatchedBox(box)
            model = ScriptedModel(calls(("toolcell__spin", {})))
            async with client_of(watched, tmp_path, model, Person()) as client:
                await client.query("go")
                await asyncio.wait_for(watched.began.wait(), 20)
                await asyncio.sleep(0.3)
                await client.interrupt()
                await asyncio.wait_for(watched.cancelled.wait(), 2)

    asyncio.run(main())


def test_the_end_of_the_client_ends_an_endless_loop(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            watched = WatchedBox(box)
            async with client_of(watched, tmp_path, ScriptedModel(calls(("toolcell__spin", {}))), Person()) as client:
                await client.query("go")
                await asyncio.wait_for(watched.began.wait(), 20)
            await asyncio.wait_for(watched.cancelled.wait(), 2)

    asyncio.run(main())
