"""The toolbox: runs, errors, limits, functions, hooks, approvals."""

import dataclasses
import gc
import json
import logging
import signal
import threading
import time
import weakref

import pytest
from conftest import FIXTURES, SPIN, STEPS, TWICE, children

from toolcell import Function, Hook, Refuse, Refused, RunTimeout, Stopped, Toolbox, ToolcellError, ToolFailed


def test_a_tool_is_created_run_listed_shown_and_deleted(box):
    created = box.create("twice", "Doubles", TWICE, parameters={"n": {"type": "number", "required": True}})
    assert (created.name, created.version, created.findings) == ("twice", 1, [])
    run = box.run("twice", {"n": 21})
    assert (run.value, run.tool_name, run.tool_id, run.effects) == (42, "twice", created.id, "none")
    assert run.fuel > 0 and run.record and run.text.endswith("42")
    assert box.run(created.id[:12], {"n": 2}).value == 4
    listed = box.list()
    assert (listed.total, listed.tools[0].usage_count) == (1, 2)
    assert box.show("twice").source == TWICE
    assert box.search("doubles")[0].tool.name == "twice"
    assert "twice" in box.delete("twice").text
    with pytest.raises(Refused) as refused:
        box.run("twice", {"n": 1})
    assert refused.value.code == "tool-not-found" and refused.value.hint


def test_undefined_and_null_are_none_and_text_crosses_unchanged(box):
    assert box.run_code("const execute = () => undefined").value is None
    text = "\u0000 \ud7ff 😀 \u2028 \"\\"
    for one in (text, "\ud800", "é\udfff"):
        assert box.run_code("const execute = ({ text }) => text", {"text": one}).value == one
    assert box.run_code("const execute = ({ n }) => n", {"n": 9007199254740991}).value == 9007199254740991


def test_what_a_tool_throws_has_its_lines(box):
    with pytest.raises(ToolFailed) as failed:
        box.run_code("const execute = () => {\n  console.log('here')\n  throw new RangeError('no')\n}")
    error = failed.value
    assert (error.code, error.name, error.line) == ("tool-failed", "RangeError", 3)
    assert "no" in str(error) and error.run.logs[0].text == "here"


def test_a_message_does_not_control_the_terminal(box):
    with pytest.raises(ToolFailed) as failed:
        box.run_code("const execute = () => { throw new Error('\\x1b[2J\\none') }")
    assert "\x1b" not in str(failed.value) and "\none" in str(failed.value)


def test_limits_stop_a_run(box):
    with pytest.raises(Stopped) as stopped:
        box.run_code(SPIN, limits={"fuel": 1_000_000})
    assert stopped.value.code == "out-of-fuel" and "limits" in stopped.value.hint
    began = time.monotonic()
    with pytest.raises(TimeoutError) as late:
        box.run_code(SPIN, limits={"timeout": 0.2})
    assert isinstance(late.value, RunTimeout) and late.value.run.duration >= 0.2
    assert time.monotonic() - began < 2
    with pytest.raises(Refused) as above:
        box.run_code(TWICE, {"n": 1}, limits={"timeout": 10**6})
    assert above.value.code == "limit-invalid"


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda box: box.run_code(TWICE, [1]), TypeError, "params is a list"),
        (lambda box: box.run_code(TWICE, {"n": {1}}), TypeError, "params['n'] is a set"),
        (lambda box: box.run_code(TWICE, {"a": [{"b": float("nan")}]}), ValueError, "params['a'][0]['b'] is nan"),
        (lambda box: box.run_code(TWICE, {"a": {(1,): 2}}), TypeError, "params['a'] has the key (1,)"),
        (lambda box: box.run_code(5), TypeError, "code is a int"),
        (lambda box: box.run_code(TWICE, limits={"timeout": 0}), ValueError, "limits['timeout'] is 0"),
        (lambda box: box.run_code(TWICE, limits={"time": 1}), ValueError, "limits has 'time'"),
        (lambda box: box.run_code(TWICE, functions={"f": 3}), TypeError, "functions['f'] is a int"),
        (lambda box: box.run_code(TWICE, grants={"wings": True}), Refused, "wings"),
        (lambda box: Toolbox(policy="toolcell.toml", isolation="process"), ValueError, "pathlib.Path"),
        (lambda box: Toolbox(FIXTURES, isolation="process"), ValueError, "has other files in it"),
        (lambda box: Toolbox(hooks=[Hook("a", print), Hook("a", print)]), ValueError, "two hooks are named 'a'"),
        (lambda box: Toolbox(hooks=[Hook("a", print, timeout=0)]), ValueError, "the timeout of the hook 'a' is 0"),
        (lambda box: Toolbox(isolation="process").list(), Refused, "has no store, which `list` needs"),
        (lambda box: box.run_code(TWICE, caller={"who": "x"}), ValueError, "caller has 'who'"),
        (lambda box: box.run_code("'\ud800'"), ValueError, "half a character"),
        (lambda box: box.list(limit="x"), Refused, "invalid type"),
    ],
)
def test_wrong_types_name_the_argument(box, call, kind, says):
    with pytest.raises(kind) as error:
        call(box)
    assert says in str(error.value)


def test_a_value_that_contains_itself_is_named(box):
    loop: dict = {}
    loop["a"] = [loop]
    with pytest.raises(ValueError, match=r"params\['a'\]\[0\] contains itself"):
        box.run_code(TWICE, loop)


def test_dataclasses_and_models_are_json(box):
    import pydantic

    class Point(pydantic.BaseModel):
        x: int

    @dataclasses.dataclass
    class Box:
        point: Point

    assert box.run_code("const execute = ({ box }) => box.point.x", {"box": Box(Point(x=7))}).value == 7


def test_functions_are_called_by_name_with_checked_parameters(box):
    import pydantic

    class Item(pydantic.BaseModel):
        sku: str
        count: int = 1

    def total(item: Item, factor: float = 1.0) -> float:
        return item.count * factor

    code = "const execute = (p) => tools.call('total', p)"
    assert box.run_code(code, {"item": {"sku": "a", "count": 3}, "factor": 2}, functions={"total": total}).value == 6
    with pytest.raises(ToolFailed, match="invalid parameters for `total`"):
        box.run_code(code, {"item": {"sku": {}}}, functions={"total": total})
    with pytest.raises(ToolFailed, match="invalid parameters"):
        box.run_code(code, {"things": 1}, functions={"total": total})


def test_what_a_function_raises_can_be_caught_by_the_tool_and_is_the_cause(box, caplog):
    def fails() -> None:
        raise KeyError("lost")

    caught = "const execute = async () => { try { await tools.call('fails', {}) } catch (e) { return e.message } }"
    with caplog.at_level(logging.DEBUG, "toolcell"):
        assert "lost" in box.run_code(caught, functions={"fails": fails}).value
    assert "Traceback" in caplog.text
    with pytest.raises(ToolFailed) as failed:
        box.run_code("const execute = () => tools.call('fails', {})", functions={"fails": fails})
    assert isinstance(failed.value.__cause__, KeyError)


def test_a_function_may_use_the_toolbox(box):
    box.create("twice", "Doubles", TWICE)
    again = {"again": lambda n: box.run("twice", {"n": n}).value}
    assert box.run_code("const execute = ({ n }) => tools.call('again', { n })", {"n": 4}, functions=again).value == 8


def test_functions_that_run_tools_are_nested_so_deep_and_no_deeper(box):
    def again(n: int):
        return box.run_code(code, {"n": n}, functions={"again": again}, limits={"timeout": 20}).value

    code = "const execute = ({ n }) => n > 0 ? tools.call('again', { n: n - 1 }) : 'end'"
    assert again(4) == "end"
    with pytest.raises(ToolFailed, match="nested too deeply"):
        again(5)


def test_a_function_runs_on_the_thread_of_the_caller(box):
    seen = []
    box.run_code("const execute = () => tools.call('f', {})", functions={"f": lambda: seen.append(threading.get_ident())})
    assert seen == [threading.get_ident()]


def test_a_stored_tool_needs_a_grant_for_a_function(tmp_path, isolation):
    policy = '[grants.default]\ntools = ["price"]\n'
    code = "export const execute = ({ sku }) => tools.call('price', { sku })"
    for text, works in ((None, False), (policy, True)):
        with Toolbox(
            tmp_path / str(works), isolation=isolation, policy=text, functions={"price": Function(len, parameters={})}
        ) as box:
            created = box.create("cost", "Prices", code, capabilities={"tools": ["price"]})
            if not works:
                assert created.needs_approval
                with pytest.raises(Refused) as refused:
                    box.run("cost", {"sku": "tea"})
                assert refused.value.awaits_approval and refused.value.decided_by == "approval"


def test_hooks_allow_change_deny_and_fail_closed(tmp_path, isolation):
    seen = []

    def house(event):
        seen.append(event["toolName"])
        args = event["toolArgs"]
        if args.get("n") == 1:
            return {"permissionDecision": "deny", "permissionDecisionReason": "not one"}
        if args.get("n") == 2:
            return {"modifiedArgs": {"n": 20}}
        if args.get("n") == 3:
            raise ValueError("broken")
        if args.get("n") == 4:
            time.sleep(5)
        return "nonsense" if args.get("n") == 5 else None

    hook = Hook("house", before=house, after=lambda event: {"additionalContext": "seen"}, timeout=0.3)
    with Toolbox(tmp_path / "store", isolation=isolation, hooks=[hook]) as box:
        box.create("twice", "Doubles", TWICE)
        assert box.run("twice", {"n": 7}).context == [("house", "seen")]
        assert box.run("twice", {"n": 2}).value == 40
        for n, says in ((1, "not one"), (3, "broken"), (4, "300 ms"), (5, "neither an object nor null")):
            with pytest.raises(Refused) as refused:
                box.run("twice", {"n": n})
            assert says in str(refused.value) and refused.value.decided_by == "hook house"
        decision = box.decide("bash", {"n": 1})
        assert (decision.permission, decision.allowed, decision.decided_by) == ("deny", False, "hook house")
        assert box.decide("bash", {"command": "ls"}).allowed
    assert seen[0] == "twice" and "bash" in seen


def test_an_approver_decides_once_and_a_question_binds(tmp_path, isolation):
    code = "const execute = ({ ms }) => new Promise((done) => setTimeout(done, ms, 'late'))"
    policy = "[grants.default]\ntimers = true\n"
    answers = [False, Refuse("ask Ann"), None, True]
    asked = []

    def approver(question):
        asked.append(question)
        return answers.pop(0)

    with Toolbox(tmp_path / "store", isolation=isolation, policy=policy, approver=approver) as box:
        box.create("later", "Waits", code, capabilities=["timers"])
        for says in ("a person refused", "ask Ann", "a person is being asked"):
            with pytest.raises(Refused, match=says):
                box.run("later", {"ms": 1})
        assert box.run("later", {"ms": 1}).value == "late"
        assert box.run("later", {"ms": 1}).value == "late" and len(asked) == 4
        assert asked[0].source == code and asked[0].grants == {"timers": True} and "later" in str(asked[0])
    with Toolbox(tmp_path / "other", isolation=isolation, policy=policy) as box:
        box.create("later", "Waits", code, capabilities=["timers"])
        question = box.question("later")
        with pytest.raises(Refused) as changed:
            box.approve(dataclasses.replace(question, digest="0" * 64))
        assert changed.value.code == "approval-changed"
        with pytest.raises(Refused):
            box.run("later", {"ms": 1})
        assert [tool.name for tool in box.pending()] == ["later"]
        box.approve(question, by="Ann")
        assert box.run("later", {"ms": 1}).value == "late"


def test_rules_about_flows_hold_for_the_labels_that_a_caller_says_and_ask_the_approver(tmp_path, isolation):
    policy = """
        [approval]
        mode = "auto"
        [grants.default.kv]
        space = "notes"
        [[flows]]
        from = ["server:mail", "tool:keep"]
        to = ["kv:notes:writes"]
        do = "ask"
    """
    code = "const execute = async ({ text }) => { await kv.set('a', text); return kv.get('a') }"
    answers = [False, True]
    asked = []

    def approver(question):
        asked.append(question)
        return answers.pop(0)

    with Toolbox(tmp_path / "store", isolation=isolation, policy=policy, approver=approver) as box:
        box.create("keep", "Keeps a text", code, capabilities=["kv"])
        first = box.run("keep", {"text": "one"}, labels=[])
        assert (first.value, asked) == ("one", [])
        assert first.labels is not None and sorted(first.labels) == ["caller", "kv:notes", "tool:keep"]
        with pytest.raises(ToolFailed, match="which was refused") as failed:
            box.run("keep", {"text": "two"}, labels=first.labels)
        assert failed.value.run is not None and "tool:keep" in (failed.value.run.labels or [])
        assert (asked[0].asked_by, asked[0].parameters["kind"], asked[0].parameters["from"]) == ("flows[0]", "kv.commit", ["tool:keep"])
        assert any("two" in fact for fact in asked[0].facts)
        assert box.run("keep", {"text": "three"}, labels=["server:mail.read"]).value == "three"
        with pytest.raises(TypeError, match="list of str"):
            box.run("keep", {"text": "x"}, labels="server:mail")
        assert len(asked) == 2
    with Toolbox(tmp_path / "other", isolation=isolation) as box:
        assert box.run_code("const execute = () => 1", labels=["caller"]).labels is None


def test_partial_results_come_while_the_tool_runs(box):
    updates = []
    assert box.run_code(STEPS, {"n": 3}, on_update=updates.append).value == 3
    assert updates == [0, 1, 2]


def test_what_on_update_raises_ends_the_run_and_is_raised(box):
    def fails(update) -> None:
        raise KeyError(update)

    with pytest.raises(KeyError):
        box.run_code(STEPS, {"n": 1e9}, on_update=fails)


def test_ctrl_c_ends_a_run(box):
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        box.run_code(SPIN)
    assert time.monotonic() - began < 1
    assert box.run_code(TWICE, {"n": 1}).value == 2


def test_ctrl_c_in_a_function_is_not_for_the_tool(box):
    def interrupted() -> None:
        raise KeyboardInterrupt

    caught = "const execute = async () => { try { await tools.call('f', {}) } catch (e) { return 1 } }"
    with pytest.raises(KeyboardInterrupt):
        box.run_code(caught, functions={"f": interrupted})


def test_after_close_nothing_is_left(tmp_path, isolation):
    before = children()
    box = Toolbox(tmp_path / "store", isolation=isolation)
    box.run_code(TWICE, {"n": 1})
    ended = []
    thread = threading.Thread(target=lambda: ended.append(pytest.raises(Stopped, box.run_code, SPIN)))
    thread.start()
    time.sleep(0.2)
    box.close()
    box.close()
    thread.join(1)
    assert ended[0].value.code == "cancelled" and children() == before
    with pytest.raises(ToolcellError) as closed:
        box.run_code(TWICE, {"n": 1})
    assert closed.value.code == "toolbox-closed"


def test_reflection_verification_explanation_and_analysis(box):
    assert box.reflect("average the numbers of each region", failed_attempts=2).decision in ("create", "none")
    examples = [{"parameters": {"n": 2}, "result": 4}]
    box.create("double", "Doubles", TWICE, parameters={"n": {"type": "number", "required": True}}, examples=examples)
    assert box.verify("double", cases=16).verdict == "passed"
    explained = box.explain("double", {"n": 1})
    assert explained.admitted and explained.error is None
    analysis = box.analyze("const execute = () => eval('1')")
    assert analysis.findings[0].rule and analysis.safety_score < 1
    adopted = box.adopt((FIXTURES / "custom_tools" / "two_tools.ts").read_text())
    assert len(adopted) == 2 and all(tool.created and tool.error is None for tool in adopted)


def test_secrets_and_policy_files(tmp_path, isolation):
    path = tmp_path / "toolcell.toml"
    path.write_text("[limits]\nfuel = 1000\n")
    with Toolbox(policy=path, isolation=isolation, secrets={"TOKEN": "x"}) as box, pytest.raises(Stopped):
        box.run_code("const execute = () => { let s = 0; for (let i = 0; i < 1e5; i++) s += i; return s }")
    with pytest.raises(Refused) as invalid:
        Toolbox(policy="[limits]\nfuell = 1\n", isolation=isolation)
    assert invalid.value.code == "policy-invalid" and "fuell" in str(invalid.value)


def test_a_run_is_shown_in_a_notebook(box):
    shown = box.run_code("const execute = () => { console.log('<b>'); return '<i>' }")._repr_html_()
    assert "&lt;i&gt;" in shown and "<i>" not in shown and "&lt;b&gt;" in shown


def test_a_receipt_is_issued(box):
    box.create("twice", "Doubles", TWICE)
    assert json.loads(box.run("twice", {"n": 1}, receipt=True).receipt)


def test_what_a_toolbox_refers_to_goes_with_it(isolation, tmp_path):
    class Secrets(dict[str, str]):
        pass

    secrets = Secrets()
    gone = weakref.ref(secrets)
    box = Toolbox(tmp_path, isolation=isolation, secrets=secrets)
    assert box.run_code(TWICE, {"n": 1}).value == 2
    del secrets, box
    gc.collect()
    assert gone() is None


def test_a_run_that_calls_many_functions_at_once_ends_at_its_deadline(isolation):
    begun: list[int] = []

    def slow(n: int) -> int:
        begun.append(n)
        time.sleep(0.3)
        return n

    code = "const execute = () => Promise.all(Array.from({ length: 20 }, (_, n) => tools.call('f', { n })))"
    with Toolbox(isolation=isolation, functions={"f": slow}) as box, pytest.raises(RunTimeout):
        box.run_code(code, limits={"timeout": 0.5})
    # In the order of the calls; one that has begun is not interrupted.
    assert begun == list(range(len(begun))) and 0 < len(begun) < 5
