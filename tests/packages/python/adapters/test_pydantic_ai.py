"""Pydantic AI: the real agent, with a function as its model."""

import asyncio
import base64

from agent_box import NUMBER, PIXEL, WatchedBox, agent_box, check_that_cancelling_ends, replace_later, run, watching_hook
from pydantic import TypeAdapter
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolApproved,
    ToolCallPart,
    ToolDenied,
)
from pydantic_ai.models.function import FunctionModel

from toolcell.pydantic_ai import toolcell_tools


async def agent_of(box, *script, **options):
    steps, offered = list(script), {}

    def model(messages, info):
        offered.update({tool.name: tool.parameters_json_schema for tool in info.function_tools})
        calls = steps.pop(0) if steps else []
        parts = [ToolCallPart(name, args, f"{len(messages)}_{at}") for at, (name, args) in enumerate(calls)]
        return ModelResponse(parts or [TextPart("done")])

    tools = await toolcell_tools(box, **options)
    return Agent(FunctionModel(model), tools=tools, output_type=[str, DeferredToolRequests]), offered


def returns(result):
    parts = [part for message in result.all_messages() for part in message.parts]
    return [part for part in parts if part.part_kind == "tool-return"]


def test_the_tools_are_offered_with_their_schemas(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, offered = await agent_of(box)
            assert (await agent.run("go")).output == "done"
            assert offered == {one.name: one.input_schema for one in await box.definitions()}
            assert offered["toolcell__twice"] == NUMBER

    asyncio.run(main())


def test_a_success_a_failure_and_an_image(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, _ = await agent_of(box, [("toolcell__twice", {"n": 21}), run("throws"), run("image")])
            twice, throws, image = returns(await agent.run("go"))
            assert (twice.outcome, "42" in twice.content, twice.metadata["value"]) == ("success", True, 42)
            assert throws.outcome == "failed" and "out of range" in throws.content
            assert base64.b64encode(image.content[1].data).decode() == PIXEL

    asyncio.run(main())


def test_many_failures_do_not_end_the_run(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, _ = await agent_of(box, *[[run("throws")]] * 5)
            result = await agent.run("go")
            assert result.output == "done" and [one.outcome for one in returns(result)] == ["failed"] * 5

    asyncio.run(main())


def test_parameters_may_have_the_names_that_the_adapter_uses(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            names = ["self", "context", "ctx", "args"]
            parameters = {name: {"type": "number", "required": True} for name in names}
            await box.create("sum", "Adds", "const execute = (all) => Object.keys(all).length", parameters=parameters)
            await box.approve("sum")
            agent, _ = await agent_of(box, [("toolcell__sum", dict.fromkeys(names, 1))])
            (answer,) = returns(await agent.run("go"))
            assert (answer.outcome, answer.metadata["value"]) == ("success", len(names))

    asyncio.run(main())


async def deferred(box):
    agent, _ = await agent_of(box, [run("later", n=1)])
    result = await agent.run("go")
    (call,) = result.output.approvals
    assert "setTimeout" in result.output.metadata[call.tool_call_id]["text"]
    return agent, result, call.tool_call_id


async def answered(agent, result, answers, metadata):
    results = result.output.build_results(approvals=answers, metadata=metadata)
    last = await agent.run(message_history=result.all_messages(), deferred_tool_results=results)
    return returns(last)[-1]


def test_an_approval_that_is_granted_runs_the_tool(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, result, call = await deferred(box)
            answer = await answered(agent, result, {call: True}, result.output.metadata)
            assert (answer.outcome, answer.metadata["value"]) == ("success", 2)
            # It was for this call alone.
            assert await box.questions(*run("later", n=1))

    asyncio.run(main())


def test_an_approval_that_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, result, call = await deferred(box)
            answer = await answered(agent, result, {call: ToolDenied("not now")}, result.output.metadata)
            assert (answer.outcome, answer.content) == ("denied", "not now")

    asyncio.run(main())


def test_a_yes_without_the_questions_or_to_other_arguments_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, result, call = await deferred(box)
            answer = await answered(agent, result, {call: True}, {})
            assert answer.outcome == "failed" and "approv" in answer.content
            other = ToolApproved(override_args=run("later", n=2)[1])
            answer = await answered(agent, result, {call: other}, result.output.metadata)
            assert answer.outcome == "failed" and "approv" in answer.content

    asyncio.run(main())


def test_limits_callers_and_hooks_hold(tmp_path):
    async def main():
        seen = []
        async with agent_box(tmp_path, hooks=[watching_hook(seen)]) as box:
            calls = [("toolcell__spin", {}), ("toolcell__twice", {"n": 4})]
            options = {"limits": {"timeout": 0.2}, "caller": {"agent": "a"}}
            agent, _ = await agent_of(box, calls, **options)
            result = await agent.run("go")
            (spin,) = returns(result)
            twice = await answered(agent, result, {"1_1": True}, result.output.metadata)
            assert spin.outcome == "failed" and "code: timeout" in spin.content
            assert (twice.outcome, twice.metadata["value"]) == ("success", 8)
            assert set(seen) == {(None, "a", "1_0"), (None, "a", "1_1")}

    asyncio.run(main())


def test_a_tool_that_was_replaced_after_the_question_is_refused(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            agent, result, call = await deferred(box)
            await replace_later(box)
            answer = await answered(agent, result, {call: True}, result.output.metadata)
            assert answer.outcome == "failed" and "replaced" not in answer.content

    asyncio.run(main())


def test_an_approval_holds_in_another_process(tmp_path):
    async def main():
        requests = TypeAdapter(DeferredToolRequests)
        async with agent_box(tmp_path) as box:
            _, result, call = await deferred(box)
            history, output = result.all_messages_json(), requests.dump_json(result.output)
        async with agent_box(tmp_path) as box:
            agent, _ = await agent_of(box)
            asked = requests.validate_json(output)
            results = asked.build_results(approvals={call: True}, metadata=asked.metadata)
            messages = ModelMessagesTypeAdapter.validate_json(history)
            answer = returns(await agent.run(message_history=messages, deferred_tool_results=results))[-1]
            assert (answer.outcome, answer.metadata["value"]) == ("success", 2)

    asyncio.run(main())


def test_cancelling_the_task_ends_an_endless_loop(tmp_path):
    async def main():
        async with agent_box(tmp_path) as box:
            watched = WatchedBox(box)
            agent, _ = await agent_of(watched, [("toolcell__spin", {})])
            await check_that_cancelling_ends(watched, agent.run("go"))

    asyncio.run(main())
