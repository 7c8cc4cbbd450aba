"""The OpenAI Agents SDK: the real runner, with a scripted model."""

import asyncio
import json

from agent_box import NUMBER, PIXEL, WatchedBox, agent_box, check_that_cancelling_ends, replace_later, run, watching_hook
from agents import Agent, Runner, RunState, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from toolcell import Question
from toolcell.openai_agents import toolcell_tools

set_tracing_disabled(True)
DONE = [assistant_message("done")]


def step(*calls):
    """What a model says: calls of tools, each `(name, arguments)`."""
    return [function_call(name, args, call_id=f"{name}_{at}") for at, (name, args) in enumerate(calls)]


async def agent_of(box, *script, asked=None, **options):
    tools = await toolcell_tools(box, asked=asked, **options)
    return Agent(name="agent", model=ScriptedModel([*script, DONE]), tools=tools)


def outputs(result):
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


def test_the_tools_are_offered_with_their_schemas(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent = await agent_of(box)
            assert (await Runner.run(agent, "go")).final_output == "done"
            offered = {tool.name: tool.params_json_schema for tool in agent.model.last_call.tools}
            assert offered == {one.name: one.input_schema for one in await box.definitions()}
            assert offered["toolcell__twice"] == NUMBER

    asyncio.run(main())


def test_a_success_a_failure_and_an_image(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            calls = [("toolcell__twice", {"n": 21}), run("throws"), run("image"), ("toolcell__twice", "{n:")]
            agent = await agent_of(box, step(*calls))
            twice, throws, image, broken = outputs(await Runner.run(agent, "go"))
            assert "42" in twice
            assert "out of range" in throws
            assert [part.type for part in image] == ["text", "image"]
            assert image[1].image_url == f"data:image/png;base64,{PIXEL}"
            assert "not JSON" in broken

    asyncio.run(main())


def test_arguments_that_are_not_json_have_no_questions(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            asked = {}
            agent = await agent_of(box, step(("toolcell__twice", "{n:")), asked=asked)
            result = await Runner.run(agent, "go")
            (item,) = result.interruptions
            assert item.call_id not in asked
            state = result.to_state()
            state.approve(item)
            (answer,) = outputs(await Runner.run(agent, state))
            assert "not JSON" in answer

    asyncio.run(main())


async def interrupted(box, asked):
    agent = await agent_of(box, step(run("later", n=1)), asked=asked)
    result = await Runner.run(agent, "go")
    (item,) = result.interruptions
    assert "setTimeout" in "\n".join(map(str, asked[item.call_id]))
    return agent, result.to_state(), item


def test_an_approval_that_is_granted_runs_the_tool(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            asked = {}
            agent, state, item = await interrupted(box, asked)
            state.approve(item)
            (answer,) = outputs(await Runner.run(agent, state))
            assert "2" in answer and asked == {}
            # It was for this call alone.
            assert await box.questions(*run("later", n=1))

    asyncio.run(main())


def test_an_approval_that_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, state, item = await interrupted(box, {})
            state.reject(item, rejection_message="not now")
            assert outputs(await Runner.run(agent, state)) == ["not now"]

    asyncio.run(main())


def test_limits_callers_and_hooks_hold(tmp_path):
    async def main():
        seen = []
        async with agent_box(tmp_path, hooks=[watching_hook(seen)]) as box:
            calls = step(("toolcell__spin", {}), ("toolcell__twice", {"n": 4}))
            options = {"limits": {"timeout": 0.2}, "caller": {"agent": "a"}}
            agent = await agent_of(box, calls, asked={}, **options)
            result = await Runner.run(agent, "go")
            (item,) = result.interruptions
            state = result.to_state()
            state.approve(item)
            spin, twice = outputs(await Runner.run(agent, state))
            assert "code: timeout" in spin and "8" in twice
            assert set(seen) == {(None, "a", "toolcell__spin_0"), (None, "a", "toolcell__twice_1")}

    asyncio.run(main())


def test_a_tool_that_was_replaced_after_the_question_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, state, item = await interrupted(box, {})
            await replace_later(box)
            state.approve(item)
            (answer,) = outputs(await Runner.run(agent, state))
            assert "approv" in answer and "replaced" not in answer

    asyncio.run(main())


def test_an_approval_for_good_covers_no_call_that_was_not_shown(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, state, item = await interrupted(box, {})
            again = function_call(*run("later", n=76), call_id="again")
            agent.model = ScriptedModel([[again], DONE])
            state.approve(item, always_approve=True)
            shown, unseen = outputs(await Runner.run(agent, state))
            assert "2" in shown and "approv" in unseen and "77" not in unseen

    asyncio.run(main())


def test_in_another_process_an_approval_needs_the_questions(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            asked = {}
            _, state, _ = await interrupted(box, asked)
            kept = state.to_json()
            questions = {call: [one.to_json() for one in those] for call, those in asked.items()}
        for restored in (json.loads(json.dumps(questions)), {}):
            async with agent_box(tmp_path) as box:
                asked = {call: [Question.from_json(one) for one in those] for call, those in restored.items()}
                agent = await agent_of(box, asked=asked)
                state = await RunState.from_json(agent, json.loads(json.dumps(kept)))
                state.approve(state.get_interruptions()[0])
                (answer,) = outputs(await Runner.run(agent, state))
                assert ("2" in answer) == bool(restored) and ("approv" in answer) != bool(restored)

    asyncio.run(main())


def test_without_a_place_for_questions_a_call_that_needs_an_approval_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent = await agent_of(box, step(run("later", n=1)))
            result = await Runner.run(agent, "go")
            (answer,) = outputs(result)
            assert not result.interruptions and "approv" in answer

    asyncio.run(main())


def test_cancelling_the_task_ends_an_endless_loop(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            watched = WatchedBox(box)
            agent = await agent_of(watched, step(("toolcell__spin", {})))
            await check_that_cancelling_ends(watched, Runner.run(agent, "go"))

    asyncio.run(main())
