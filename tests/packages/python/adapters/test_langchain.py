"""LangChain and LangGraph: the real agent, with a scripted chat model."""

import asyncio

import pytest
from agent_box import NUMBER, PIXEL, WatchedBox, agent_box, check_that_cancelling_ends, replace_later, run, watching_hook
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from toolcell import Toolbox
from toolcell.langchain import blocking_toolcell_tools, toolcell_tools

THREAD = {"configurable": {"thread_id": "1"}}


class ScriptedModel(BaseChatModel):
    """Says what a script says: calls of tools, each `(name, arguments)`, and then "done"."""

    script: list
    offered: list = []

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **options):
        self.offered[:] = [convert_to_openai_tool(tool)["function"] for tool in tools]
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        calls = self.script.pop(0) if self.script else []
        ids = [{"name": name, "args": args, "id": f"{len(messages)}_{at}"} for at, (name, args) in enumerate(calls)]
        message = AIMessage("" if calls else "done", tool_calls=ids)
        return ChatResult(generations=[ChatGeneration(message=message)])


async def agent_of(box, *script, saver=None, **options):
    model = ScriptedModel(script=list(script))
    agent = create_agent(model, await toolcell_tools(box, **options), checkpointer=saver or InMemorySaver())
    return agent, model


def go(agent, command=None):
    return agent.ainvoke(command or {"messages": [("user", "go")]}, THREAD)


def answers(state):
    return [one for one in state["messages"] if isinstance(one, ToolMessage)]


def test_the_tools_are_offered_with_their_schemas(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, model = await agent_of(box)
            await go(agent)
            offered = {one["name"]: one["parameters"] for one in model.offered}
            assert offered == {one.name: one.input_schema for one in await box.definitions()}
            assert offered["toolcell__twice"] == NUMBER
            tools = await toolcell_tools(box, operations=["run_code"], published=0)
            assert [tool.name for tool in tools] == ["run_code"]

    asyncio.run(main())


def test_a_success_a_failure_and_an_image(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, _ = await agent_of(box, [("toolcell__twice", {"n": 21}), run("throws"), run("image"), run("none")])
            twice, throws, image, none = answers(await go(agent))
            assert (twice.status, "42" in twice.content, twice.artifact["value"]) == ("success", True, 42)
            assert throws.status == "error" and "out of range" in throws.content
            assert [block["type"] for block in image.content] == ["text", "image"]
            assert image.content[1]["base64"] == PIXEL
            assert none.status == "error" and "none" in none.content

    asyncio.run(main())


def test_parameters_may_have_the_names_that_langchain_uses(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            names = ["self", "config", "run_manager", "callbacks", "runtime", "args", "kwargs", "tool_call_id"]
            parameters = {name: {"type": "number", "required": True} for name in names}
            await box.create("sum", "Adds", "const execute = (all) => Object.keys(all).length", parameters=parameters)
            await box.approve("sum")
            agent, _ = await agent_of(box, [("toolcell__sum", dict.fromkeys(names, 1))])
            (answer,) = answers(await go(agent))
            assert (answer.status, answer.artifact["value"]) == ("success", len(names))

    asyncio.run(main())


async def interrupted(box, saver):
    agent, _ = await agent_of(box, [run("later", n=1)], saver=saver)
    (asked,) = (await go(agent))["__interrupt__"]
    assert "setTimeout" in asked.value["text"] and asked.value["args"] == run("later", n=1)[1]
    return agent, asked.value


def test_an_approval_that_is_granted_runs_the_tool(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, asked = await interrupted(box, InMemorySaver())
            (answer,) = answers(await go(agent, Command(resume={"approved": asked["questions"]})))
            assert (answer.status, answer.artifact["value"]) == ("success", 2)
            # It was for this call alone.
            assert await box.questions(*run("later", n=1))

    asyncio.run(main())


@pytest.mark.parametrize("no", [{"approved": []}, False, True, {"approved": None}, "yes"])
def test_an_approval_without_the_questions_is_a_refusal(tmp_path, no):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, _ = await interrupted(box, InMemorySaver())
            (answer,) = answers(await go(agent, Command(resume=no)))
            assert answer.status == "error" and "did not approve" in answer.content

    asyncio.run(main())


def test_limits_callers_and_hooks_hold(tmp_path):
    async def main():
        seen = []
        async with agent_box(tmp_path, hooks=[watching_hook(seen)]) as box:
            calls = [("toolcell__spin", {}), ("toolcell__twice", {"n": 4})]
            options = {"limits": {"timeout": 0.2}, "caller": {"session": "s", "agent": "a"}}
            agent, _ = await agent_of(box, calls, **options)
            (asked,) = (await go(agent))["__interrupt__"]
            spin, twice = answers(await go(agent, Command(resume={"approved": asked.value["questions"]})))
            assert spin.status == "error" and "code: timeout" in spin.content
            assert (twice.status, twice.artifact["value"]) == ("success", 8)
            assert set(seen) == {("s", "a", None)}

    asyncio.run(main())


def test_a_tool_that_was_replaced_after_the_question_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, asked = await interrupted(box, InMemorySaver())
            await replace_later(box)
            (answer,) = answers(await go(agent, Command(resume={"approved": asked["questions"]})))
            assert answer.status == "error" and "replaced" not in answer.content

    asyncio.run(main())


def test_a_yes_to_other_parameters_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, asked = await interrupted(box, InMemorySaver())
            other = [one.to_json() for one in await box.questions(*run("later", n=2))]
            (answer,) = answers(await go(agent, Command(resume={"approved": other})))
            assert asked["questions"] != other and answer.status == "error"

    asyncio.run(main())


def test_two_approvals_at_once_are_each_for_its_call(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            for swapped in (False, True):
                agent, _ = await agent_of(box, [run("later", n=1), run("later", n=5)])
                asked = (await go(agent))["__interrupt__"]
                assert len(asked) == 2
                questions = [one.value["questions"] for one in asked]
                yes = questions[::-1] if swapped else questions
                resume = {one.id: {"approved": approved} for one, approved in zip(asked, yes)}
                both = answers(await go(agent, Command(resume=resume)))
                assert {one.status for one in both} == {"error" if swapped else "success"}

    asyncio.run(main())


def test_an_approval_holds_in_another_process(tmp_path):
    async def main():
        saver = InMemorySaver()
        async with agent_box(tmp_path) as box:
            _, asked = await interrupted(box, saver)
        async with agent_box(tmp_path) as box:
            agent, _ = await agent_of(box, saver=saver)
            (answer,) = answers(await go(agent, Command(resume={"approved": asked["questions"]})))
            assert (answer.status, answer.artifact["value"]) == ("success", 2)

    asyncio.run(main())


def test_without_a_graph_a_call_that_needs_an_approval_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            (tool,) = await toolcell_tools(box, operations=["run_dynamic_tool"], published=0)
            name, args = run("later", n=1)
            answer = await tool.ainvoke({"type": "tool_call", "id": "1", "name": name, "args": args})
            assert answer.status == "error"

    asyncio.run(main())


def test_cancelling_the_task_ends_an_endless_loop(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            watched = WatchedBox(box)
            agent, _ = await agent_of(watched, [("toolcell__spin", {})])
            await check_that_cancelling_ends(watched, go(agent))

    asyncio.run(main())


def test_a_blocking_toolbox_serves_a_blocking_agent(tmp_path):
    async def prepare():
        async with agent_box(tmp_path):
            pass

    asyncio.run(prepare())
    with Toolbox(tmp_path / "store", policy="[grants.default]\ntimers = true\n") as box:
        script = [[("toolcell__twice", {"n": 21}), run("throws")], [run("later", n=1)]]
        agent = create_agent(ScriptedModel(script=script), blocking_toolcell_tools(box), checkpointer=InMemorySaver())
        state = agent.invoke({"messages": [("user", "go")]}, THREAD)
        assert [one.status for one in answers(state)] == ["success", "error"]
        asked = state["__interrupt__"][0].value
        state = agent.invoke(Command(resume={"approved": asked["questions"]}), THREAD)
        assert answers(state)[-1].artifact["value"] == 2
