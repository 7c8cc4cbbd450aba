"""What a model is offered, and its calls by name: what adapters of agent frameworks are built on."""

import asyncio
import time

import pytest
from conftest import SPIN, TWICE

from toolcell import AsyncToolbox, Hook, Question, Refused, Stopped, Toolbox, ToolFailed

APPROVAL = '[approval]\nmode = "ask"\n'
PARAMETERS = {"n": {"type": "number", "required": True}}
PICTURE = """export default () => ({
  name: "picture",
  description: "Draws",
  parameters: {},
  async execute() {
    return { content: [{ type: "text", text: "here" }, { type: "image", data: "iVBORw==", mimeType: "image/png" }] };
  },
})"""


def test_the_operations_are_offered_and_then_the_approved_tools(box):
    definitions = box.definitions()
    names = [tool.name for tool in definitions]
    assert names[0] == "create_tool" and "run_code" in names and len(names) == 7
    create = definitions[0]
    assert create.input_schema["required"] == ["name", "description", "code"] and create.output_schema["type"] == "object"
    assert (create.read_only, create.destructive, create.tool) == (False, False, None)
    box.create("twice", "Doubles", TWICE, parameters=PARAMETERS)
    assert len(box.definitions(operations=[])) == 0
    box.approve("twice")
    (twice,) = box.definitions(operations=[])
    assert (twice.name, twice.tool, twice.read_only) == ("toolcell__twice", "twice", True)
    assert twice.input_schema["properties"]["n"]["type"] == "number"
    assert box.definitions(operations=["run_code"], published=0)[0].name == "run_code"
    with pytest.raises(Refused, match="there is no tool `fly`"):
        box.definitions(operations=["fly"])


def test_a_model_makes_a_tool_runs_it_and_reads_what_it_needs(box):
    made = box.call("create_tool", {"name": "twice", "description": "Doubles", "code": TWICE})
    assert not made.is_error and made.structured["name"] == "twice" and "twice" in made.text
    ran = box.call("run_dynamic_tool", {"tool_name": "twice", "parameters": {"n": 21}})
    assert (ran.text, ran.structured, ran.error, ran.run.value) == ("42", {"value": 42}, None, 42)
    assert "twice" in box.call("list_dynamic_tools").text
    assert box.call("run_code", {"code": TWICE, "parameters": {"n": 4}}).text == "8"
    box.approve("twice")
    assert box.call("toolcell__twice", {"n": 3}).text == "6"


def test_what_a_model_or_a_tool_does_wrong_is_a_result(box):
    unknown = box.call("fly", {})
    assert unknown.is_error and unknown.error.code == "tool-unknown" and "create_tool" in unknown.text
    malformed = box.call("create_tool", {"nam": "x"})
    assert malformed.is_error and malformed.error.code == "request-invalid" and "nam" in malformed.text
    thrown = box.call("run_code", {"code": "const execute = () => { throw new RangeError('no') }"})
    assert thrown.is_error and isinstance(thrown.error, ToolFailed) and thrown.error.name == "RangeError"
    assert "no" in thrown.text and thrown.structured is None and thrown.run is not None
    spun = box.call("run_code", {"code": SPIN}, limits={"fuel": 1_000_000})
    assert isinstance(spun.error, Stopped) and spun.error.code == "out-of-fuel"
    assert isinstance(box.call("run_dynamic_tool", {"tool_name": "none"}).error, Refused)


def test_images_come_as_bytes(box):
    box.adopt(PICTURE)
    drawn = box.call("run_dynamic_tool", {"tool_name": "picture"})
    assert (drawn.images[0].mime_type, drawn.images[0].data) == ("image/png", b"\x89PNG\r"[:4])


def test_a_call_asks_before_it_runs_and_a_yes_holds_for_what_was_shown(isolation, tmp_path):
    with Toolbox(tmp_path / "store", policy=APPROVAL, isolation=isolation) as box:
        box.create("twice", "Doubles", TWICE, parameters=PARAMETERS)
        call = ("run_dynamic_tool", {"tool_name": "twice", "parameters": {"n": 21}})
        (question,) = box.questions(*call)
        assert question.tool_name == "twice" and question.source == TWICE and question.parameters == {"n": 21}
        refused = box.call(*call)
        assert refused.is_error and refused.error.awaits_approval and "toolcell" not in refused.text.split("\n")[-1]
        # It crosses a process as JSON.
        carried = Question.from_json(question.to_json())
        assert carried == question
        assert box.call(*call, approved=[carried]).text == "42"
        # For this call alone.
        assert box.questions(*call) == [question]
        other = box.call(call[0], {"tool_name": "twice", "parameters": {"n": 22}}, approved=[question])
        assert other.is_error and other.error.code == "permission-denied"
        box.create("twice", "Doubles", "const execute = ({ n }) => 3 * n", parameters=PARAMETERS, replace=True)
        replaced = box.call(*call, approved=[question])
        assert replaced.is_error and "approved something else" in replaced.text
        assert box.show("twice").approval == "unapproved"


def test_what_a_model_nests_too_deeply_is_a_result_and_answers_are_few(box):
    deep: list = []
    for _ in range(900):
        deep = [deep]
    call = ("run_dynamic_tool", {"tool_name": "twice", "parameters": {"deep": deep}})
    assert box.questions(*call) == []
    assert box.call(*call).error.code == "request-invalid"
    box.create("twice", "Doubles", TWICE)
    with pytest.raises(ValueError, match="approved has 17 questions"):
        box.call("run_dynamic_tool", {"tool_name": "twice"}, approved=[box.question("twice")] * 17)


def test_a_hook_asks_about_a_call_and_knows_its_caller(isolation, tmp_path):
    def before(event):
        if event["toolArgs"]["n"] > 10 and event.get("sessionId") == "s1":
            return {"permissionDecision": "ask", "permissionDecisionReason": "it is large"}
        return None

    with Toolbox(tmp_path / "store", hooks=[Hook("large", before=before)], isolation=isolation) as box:
        box.create("twice", "Doubles", TWICE, parameters=PARAMETERS)
        large = ("run_dynamic_tool", {"tool_name": "twice", "parameters": {"n": 21}})
        assert box.questions(*large) == []
        (question,) = box.questions(*large, caller={"session": "s1"})
        assert (question.asked_by, question.text) == ("large", "it is large")
        assert box.call(*large, caller={"session": "s1"}).is_error
        assert box.call(*large, caller={"session": "s1"}, approved=[question]).text == "42"
        with pytest.raises(TypeError, match="approved has a str"):
            box.call(*large, approved=["yes"])


def test_code_that_is_not_stored_asks_too(isolation):
    ask = Hook("ask", before=lambda event: {"permissionDecision": "ask", "permissionDecisionReason": "who knows"})
    with Toolbox(hooks=[ask], isolation=isolation) as box:
        call = ("run_code", {"code": "const execute = () => 1"})
        (question,) = box.questions(*call)
        assert question.asked_by == "ask" and question.question == "Allow this call of `code`?"
        assert box.call(*call).is_error
        assert box.call(*call, approved=[question]).text == "1"
        assert box.questions("run_code", {"code": "not code"}) == box.questions("run_code", {"cod": 1}) == []


def test_a_long_value_is_cut_for_the_model_and_whole_for_the_host(box):
    long = box.call("run_code", {"code": "const execute = () => 'x'.repeat(50_000)"})
    assert len(long.text) < 21_000 and "return less" in long.text
    assert len(long.structured["value"]) == len(long.run.value) == 50_000


def test_without_a_store_a_model_runs_code(isolation):
    with Toolbox(isolation=isolation) as box:
        assert [tool.name for tool in box.definitions()] == ["run_code"]
        assert box.call("run_code", {"code": "const execute = () => 1"}).text == "1"
        assert box.call("list_dynamic_tools").is_error


def test_cancelling_the_task_cancels_the_call(isolation, tmp_path):
    async def main():
        async with AsyncToolbox(tmp_path / "store", isolation=isolation) as box:
            assert (await box.definitions())[0].name == "create_tool"
            assert await box.questions("run_code", {"code": SPIN}) == []
            updates = []
            steps = "const execute = async () => { for (const i of [1, 2]) await tools.call('tell', { i }); return 3 }"
            told = await box.call("run_code", {"code": steps}, functions={"tell": lambda i: updates.append(i)})
            assert (told.text, updates) == ("3", [1, 2])
            task = asyncio.create_task(box.call("run_code", {"code": SPIN}))
            await asyncio.sleep(0.2)
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - began < 1

    asyncio.run(main())
