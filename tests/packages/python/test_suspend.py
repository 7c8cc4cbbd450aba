"""Side effects that are decided before they happen, runs that are suspended, functions that answer later."""

import asyncio
import copy
import datetime
import math
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import typing

import pytest
from conftest import TWICE

from toolcell import (
    AsyncToolbox,
    Deferred,
    Function,
    HeldEffect,
    Refused,
    Stopped,
    SuspendedRun,
    SuspendedRunInfo,
    Toolbox,
    ToolFailed,
)

POLICY = """
[approval]
mode = "auto"
[grants.default]
tools = ["ask", "note"]
[grants.default.kv]
space = "notes"
[[grants.default.net]]
host = "api.example.com"
methods = ["POST", "PUT"]
"""
NOTE = "const execute = async ({ text }) => { await kv.set('note', text); return kv.get('note') }"
LOOK = "const execute = async ({ key }) => (await kv.get(key)) ?? null"
# Two plans: the keys of a list are held together, and `last` is held after them.
SEVERAL = """const outcome = (one) => one.status === 'fulfilled' ? 'done' : one.reason.code
const execute = async ({ keys }) => {
  const set = (names) => Promise.allSettled(names.map((name) => kv.set(name, 1)))
  return [...await set(keys), ...await set(['last'])].map(outcome)
}"""
POST = """const execute = async () => {
  const sent = [fetch('https://api.example.com/a', { method: 'POST', body: 'text' }),
                fetch('https://api.example.com/b', { method: 'PUT', body: new Uint8Array([255, 0]) })]
  return (await Promise.allSettled(sent)).map((one) => one.reason.code)
}"""
ASK = "const execute = (p) => tools.call('ask', p)"
TOLD = """export default () => ({
  name: "told",
  description: "Tells, and keeps",
  parameters: {},
  async execute(id, params, onUpdate) {
    onUpdate("begun");
    await kv.set("note", 1);
    return "kept";
  },
})"""
OUTER = "const execute = (p) => tools.call('note', p)"
NOT_APPROVED = "effect-not-approved"


class Awaited:
    """An AsyncToolbox whose methods are awaited in a loop of its own, so that one test is for both."""

    def __init__(self, *args, **options):
        self._loop = asyncio.new_event_loop()
        self._box = AsyncToolbox(*args, **options)

    def __getattr__(self, name):
        async def main(args, options):
            return await getattr(self._box, name)(*args, **options)

        return lambda *args, **options: self._loop.run_until_complete(main(args, options))

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, *_):
        self.close()
        self._loop.close()


@pytest.fixture(params=["sync", "async"])
def flavor(request):
    return request.param


@pytest.fixture
def reopen(flavor, isolation, tmp_path):
    """Opens the toolbox, again and again."""
    kind = Toolbox if flavor == "sync" else Awaited
    return lambda **options: kind(tmp_path / "store", policy=POLICY, isolation=isolation, **options)


@pytest.fixture
def box(reopen):
    with reopen() as box:
        yield add_tools(box)


def add_tools(box):
    for name, code, capabilities in (
        ("note", NOTE, ["kv"]),
        ("look", LOOK, ["kv"]),
        ("several", SEVERAL, ["kv"]),
        ("post", POST, ["net"]),
        ("asks", ASK, {"tools": ["ask"]}),
        ("outer", OUTER, {"tools": ["note"], "kv": True}),
    ):
        box.create(name, "A tool", code, capabilities=capabilities)
    return box


@pytest.fixture
def approver(flavor):
    """Returns an approver that gives an answer, or what a function makes of the effects."""

    def make(answer):
        def decide(held):
            return answer(held) if callable(answer) else answer

        async def decide_later(held):
            await asyncio.sleep(0)
            return decide(held)

        return decide if flavor == "sync" else decide_later

    return make


def ask(answer, **options):
    """The function `ask`, whose answer is text."""
    schema = {"q": {"type": "string", "required": True}}
    return {"ask": Function(lambda q: answer, parameters=schema, result={"type": "string"}, **options)}


def look(box, key="note"):
    return box.run("look", {"key": key}).value


def test_a_suspended_run_is_resumed_in_the_same_toolbox_and_only_once(box, approver):
    suspended = box.run_suspendable("note", {"text": "milk"}, effect_approver=approver(None))
    assert isinstance(suspended, SuspendedRun) and suspended.tool_name == "note" and suspended.tickets == []
    assert suspended.bytes > 0 and suspended.record and look(box) is None
    ran = box.resume(suspended, effect_approver=approver(True))
    assert (ran.value, ran.tool_id, ran.effects) == ("milk", suspended.tool_id, "committed")
    assert look(box) == "milk" and len(box.suspended()) == 0
    with pytest.raises(Refused) as again:
        box.resume(suspended, effect_approver=approver(True))
    assert again.value.code == "run-not-asleep"
    with pytest.raises(Refused) as unknown:
        box.resume("r_none")
    assert unknown.value.code == "run-not-asleep"


def test_a_suspended_run_is_resumed_in_a_toolbox_that_is_opened_anew(reopen, approver):
    before = datetime.datetime.now(datetime.timezone.utc)
    with reopen() as box:
        suspended = add_tools(box).run_suspendable("note", {"text": "tea"}, effect_approver=approver(None))
    with reopen() as box:
        (info,) = box.suspended()
        assert (info.run, info.tool_id, info.tool_name) == (suspended.run, suspended.tool_id, "note")
        assert (info.caller, info.bytes) == ("python", suspended.bytes)
        assert before <= info.since <= datetime.datetime.now(datetime.timezone.utc)
        assert box.resume(info, effect_approver=approver(True)).value == "tea"


def test_a_suspended_run_is_resumed_in_a_new_process(reopen, approver, isolation, tmp_path):
    with reopen() as box:
        suspended = add_tools(box).run_suspendable("note", {"text": "rice"}, effect_approver=approver(None))
        code = """
            import sys, toolcell
            folder, policy, isolation, run = sys.argv[1:]
            with toolcell.Toolbox(folder, policy=policy, isolation=isolation) as box:
                print(box.resume(run, effect_approver=lambda held: True).value)
            """
        words = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "store"), POLICY, isolation, suspended.run]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert (done.stdout, done.stderr) == ("rice\n", "")
        assert look(box) == "rice"


def test_a_run_that_is_resumed_without_an_approver_is_suspended_again(box, approver):
    first = box.run_suspendable("note", {"text": "milk"}, effect_approver=approver(None))
    second = box.resume(first.run)
    assert isinstance(second, SuspendedRun) and second.held == first.held and second.run == first.run
    with pytest.raises(ToolFailed, match="not approved"):
        box.resume(second, effect_approver=approver(False))
    assert look(box) is None and len(box.suspended()) == 0


def test_a_run_of_a_tool_that_is_refused_meanwhile_stays_suspended(box, approver):
    suspended = box.run_suspendable("note", {"text": "milk"}, effect_approver=approver(None))
    box.refuse("note")
    with pytest.raises(Refused):
        box.resume(suspended, effect_approver=approver(True))
    assert [info.run for info in box.suspended()] == [suspended.run]


def test_a_run_that_waits_for_nothing_is_not_suspended(box, approver):
    assert box.run_suspendable("look", {"key": "x"}).value is None
    assert box.run_suspendable("note", {"text": "at once"}, effect_approver=approver(True)).value == "at once"
    assert box.run_suspendable("note", {"text": "without an approver"}).value == "without an approver"
    with pytest.raises(ToolFailed):
        box.run_suspendable("asks", {"q": "?"}, functions={"ask": lambda q: 1 / 0})


def test_a_held_effect_says_what_the_tool_is_about_to_do(box, approver):
    asked = []
    codes = box.run("post", effect_approver=approver(lambda held: asked.append(held) or False)).value
    assert codes == [NOT_APPROVED, NOT_APPROVED]
    ((text, data),) = asked
    assert (text.tool_name, text.kind, text.about) == ("post", "fetch", "POST https://api.example.com/a")
    assert (text.body, text.bytes, data.body, data.bytes) == ("text", 4, b"\xff\x00", 2)
    assert text.details["method"] == "POST" and {text.position, data.position} == {1, 2}
    assert str(text) == text.display == "post: fetch POST https://api.example.com/a (4 bytes)"
    assert text.tool_id.startswith("dt_") and len(text.digest) == 64 != text.digest != data.digest


def test_a_tool_does_not_control_the_line_that_a_person_reads(box, approver):
    held = box.run_suspendable("note", {"text": "x"}, effect_approver=approver(None)).held
    assert held[0].details["writes"][0]["value"] == "x"
    key = "a\x1b[2J\u202eb\n"
    asked = []
    box.run("several", {"keys": [key]}, effect_approver=approver(lambda held: asked.extend(held) or False))
    assert asked[0].details["writes"][0]["key"] == key
    assert not {"\x1b", "\u202e", "\n"} & set(asked[0].display)


def test_an_approver_performs_some_effects_and_refuses_others(box, approver):
    asked = []

    def choose(held):
        asked.append(sorted(effect.about for effect in held))
        return [effect.about != "b" for effect in held]

    run = box.run("several", {"keys": ["a", "b", "c"]}, effect_approver=approver(choose))
    assert run.value == ["done", NOT_APPROVED, "done", "done"]
    assert asked == [["a", "b", "c"], ["last"]]
    assert [look(box, key) for key in ("a", "b", "c", "last")] == [1, None, 1, 1]
    # A tuple and one answer for all do as well; later is never, for a run that is not suspended.
    assert box.run("several", {"keys": ["d"]}, effect_approver=approver((True,))).value == ["done", "done"]
    assert box.run("several", {"keys": ["e"]}, effect_approver=approver(None)).value == [NOT_APPROVED, NOT_APPROVED]


def test_some_effects_are_performed_and_the_run_is_suspended_for_the_others(box, approver):
    choose = approver(lambda held: [None if effect.about == "b" else True for effect in held])
    suspended = box.run_suspendable("several", {"keys": ["a", "b"]}, effect_approver=choose)
    assert [effect.about for effect in suspended.held] == ["b"]
    assert (look(box, "a"), look(box, "b")) == (1, None)
    again = box.resume(suspended, effect_approver=approver(lambda held: [effect.about == "b" for effect in held]))
    assert again.value == ["done", "done", NOT_APPROVED]


def test_effects_of_a_tool_that_is_called_are_held_and_never_wait(box, approver):
    asked = []
    run = box.run("outer", {"text": "x"}, effect_approver=approver(lambda held: asked.extend(held) or True))
    assert run.value == "x" and [effect.tool_name for effect in asked] == ["note"]
    with pytest.raises(ToolFailed, match="not approved"):
        box.run_suspendable("outer", {"text": "y"}, effect_approver=approver(None))
    assert look(box) == "x" and len(box.suspended()) == 0


def fails(held):
    raise KeyError("lost") from ValueError("why")


BAD_APPROVERS = [
    (fails, KeyError, "lost"),
    ("perform", TypeError, "an effect approver returned a str, it must be True, False, None or a list of them"),
    (1, TypeError, "an effect approver returned a int"),
    ({"a": True}, TypeError, "an effect approver returned a dict"),
    ([True, True], TypeError, "an effect approver returned 2 decisions about 1 held effects"),
    ([], TypeError, "an effect approver returned 0 decisions about 1 held effects"),
    (["yes"], TypeError, r"an effect approver returned a str at \[0\], it must be True, False or None"),
]


@pytest.mark.parametrize(("answer", "kind", "says"), BAD_APPROVERS)
def test_an_approver_that_fails_performs_nothing_and_its_caller_is_told(box, approver, answer, kind, says):
    with pytest.raises(kind, match=says) as failed:
        box.run("note", {"text": "x"}, effect_approver=approver(answer))
    assert answer is not fails or isinstance(failed.value.__cause__, ValueError)
    assert look(box) is None and len(box.suspended()) == 0
    with pytest.raises(kind, match=says):
        box.run_suspendable("note", {"text": "x"}, effect_approver=approver(answer))
    (info,) = box.suspended()
    assert look(box) is None
    with pytest.raises(kind, match=says):
        box.resume(info, effect_approver=approver(answer))
    (info,) = box.suspended()
    assert box.resume(info, effect_approver=approver(True)).value == "x"


def test_a_coroutine_approves_nothing_in_a_toolbox_that_blocks(isolation, tmp_path):
    async def approver(held):
        return True

    with Toolbox(tmp_path / "store", policy=POLICY, isolation=isolation) as box:
        add_tools(box)
        for run in (box.run, box.run_suspendable):
            with pytest.raises(TypeError, match="the effect approver is asynchronous: use an AsyncToolbox"):
                run("note", {"text": "x"}, effect_approver=approver)
        assert look(box) is None and len(box.suspended()) == 1


def test_an_approver_that_has_failed_is_not_asked_again(box, approver):
    asked = []

    def decide(held):
        asked.append(len(held))
        if len(asked) == 1:
            raise KeyError("lost")
        return True

    with pytest.raises(KeyError):
        box.run("several", {"keys": ["a"]}, effect_approver=approver(decide))
    assert asked == [1] and look(box, "last") is None


def test_an_approver_may_use_the_toolbox(isolation, tmp_path):
    with Toolbox(tmp_path / "store", policy=POLICY, isolation=isolation) as box:
        add_tools(box)
        assert box.run("note", {"text": "x"}, effect_approver=lambda held: look(box) is None).value == "x"


def test_an_approver_that_decides_later_resumes_the_run_itself_as_often_as_it_takes(isolation, tmp_path):
    async def main():
        async with AsyncToolbox(tmp_path / "store", policy=POLICY, isolation=isolation) as box:
            await box.create("note", "Keeps", NOTE, capabilities=["kv"])
            values, tasks = asyncio.Queue(), []

            async def resume():
                while not (infos := await box.suspended()):
                    await asyncio.sleep(0.01)
                ended = await box.resume(infos[0], effect_approver=approver)
                if not isinstance(ended, SuspendedRun):
                    values.put_nowait(ended.value)

            async def approver(held):
                if len(tasks) == 8:
                    return True
                tasks.append(asyncio.create_task(resume()))
                return None

            await box.run_suspendable("note", {"text": "x"}, effect_approver=approver)
            assert await asyncio.wait_for(values.get(), 30) == "x"
            await asyncio.gather(*tasks)

    asyncio.run(main())


def test_ctrl_c_in_an_approver_performs_nothing(isolation, tmp_path):
    def approver(held):
        thread = threading.main_thread().ident
        threading.Timer(0.2, lambda: signal.pthread_kill(thread, signal.SIGINT)).start()
        time.sleep(30)
        return True

    with Toolbox(tmp_path / "store", policy=POLICY, isolation=isolation) as box:
        add_tools(box)
        for run in (box.run, box.run_suspendable):
            began = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                run("note", {"text": "x"}, effect_approver=approver)
            assert time.monotonic() - began < 1.2
        assert look(box) is None


def test_cancelling_ends_what_waits_for_an_effect_approver(isolation, tmp_path):
    async def main():
        async with AsyncToolbox(tmp_path / "store", policy=POLICY, isolation=isolation) as box:
            await box.create("note", "Keeps", NOTE, capabilities=["kv"])
            await box.create("look", "Looks", LOOK, capabilities=["kv"])
            is_asked = asyncio.Event()

            async def approver(held):
                is_asked.set()
                await asyncio.sleep(60)
                return True

            for start in (box.run, box.run_suspendable):
                is_asked.clear()
                run = start("note", {"text": "x"}, effect_approver=approver)
                task = asyncio.ensure_future(_wait(run))
                await asyncio.wait_for(is_asked.wait(), 20)
                began = time.monotonic()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert time.monotonic() - began < 1
                is_asked.clear()
                run = start("note", {"text": "x"}, effect_approver=approver)
                await asyncio.wait_for(is_asked.wait(), 20)
                run.cancel()
                with pytest.raises(Stopped) as stopped:
                    await asyncio.wait_for(run, 1)
                assert stopped.value.code == "cancelled"
            assert (await box.run("look", {"key": "note"})).value is None

    asyncio.run(main())


def test_closing_ends_what_waits_for_somebody(isolation, tmp_path):
    async def main():
        is_asked = asyncio.Event()

        async def never(_):
            is_asked.set()
            await asyncio.sleep(60)
            return True

        async def close_while(box, run):
            task = asyncio.ensure_future(_wait(run))
            await asyncio.wait_for(is_asked.wait(), 20)
            is_asked.clear()
            await asyncio.wait_for(box.close(), 2)
            with pytest.raises((Stopped, Refused)):
                await asyncio.wait_for(task, 2)

        for run in ("run", "run_suspendable"):
            box = await AsyncToolbox(tmp_path / "store", policy=POLICY, isolation=isolation).open()
            await box.create("note", "Keeps", NOTE, capabilities=["kv"], replace=True)
            await close_while(box, getattr(box, run)("note", {"text": "x"}, effect_approver=never))
        policy = '[approval]\nmode = "ask"\n'
        box = await AsyncToolbox(tmp_path / "other", policy=policy, isolation=isolation, approver=never).open()
        await box.create("twice", "Doubles", TWICE)
        await close_while(box, box.run("twice", {"n": 1}))

    asyncio.run(main())


def test_an_approver_may_close_the_toolbox(isolation, tmp_path):
    async def main():
        box = await AsyncToolbox(tmp_path / "store", policy=POLICY, isolation=isolation).open()
        await box.create("note", "Keeps", NOTE, capabilities=["kv"])

        async def approver(held):
            await box.close()
            return True

        with pytest.raises(Stopped) as stopped:
            await asyncio.wait_for(_wait(box.run("note", {"text": "x"}, effect_approver=approver)), 20)
        assert (stopped.value.code, stopped.value.effects) == ("cancelled", "none")

    asyncio.run(main())


def test_what_is_decided_after_the_run_was_cancelled_does_not_count(isolation, tmp_path):
    async def main():
        async with AsyncToolbox(tmp_path / "store", policy=POLICY, isolation=isolation) as box:
            await box.create("note", "Keeps", NOTE, capabilities=["kv"])
            await box.create("look", "Looks", LOOK, capabilities=["kv"])
            for start in (box.run, box.run_suspendable):
                is_asked, is_cancelled = threading.Event(), threading.Event()
                approver = lambda held: is_asked.set() or is_cancelled.wait(20)  # noqa: B023, E731
                run = start("note", {"text": "x"}, effect_approver=approver)
                await asyncio.to_thread(is_asked.wait, 20)
                run.cancel()
                is_cancelled.set()
                with pytest.raises(Stopped) as stopped:
                    await run
                assert (stopped.value.code, stopped.value.effects) == ("cancelled", "none")
            assert (await box.run("look", {"key": "note"})).value is None

    asyncio.run(main())


async def _wait(run):
    return await run


def test_partial_results_come_before_the_run_is_suspended(isolation, tmp_path):
    updates = []
    with Toolbox(tmp_path / "store", policy=POLICY, isolation=isolation) as box:
        box.create("told", "Tells", TOLD, capabilities=["kv"])
        suspended = box.run_suspendable("told", on_update=updates.append, effect_approver=lambda held: None)
        assert updates == ["begun"] and isinstance(suspended, SuspendedRun)

    async def main():
        async with AsyncToolbox(tmp_path / "store", policy=POLICY, isolation=isolation) as box:
            async with box.run_suspendable("told", effect_approver=lambda held: None) as run:
                assert [update async for update in run] == ["begun"]
                assert isinstance(await run, SuspendedRun)
            async with box.resume(suspended, effect_approver=lambda held: True) as run:
                assert [update async for update in run] == []
                assert (await run).value == "kept"

    asyncio.run(main())


def test_a_function_that_answers_later_is_answered_with_a_value(box):
    suspended = box.run_suspendable("asks", {"q": "?"}, functions=ask(Deferred("t1")))
    assert [(one.function, one.ticket) for one in suspended.tickets] == [("ask", "t1")] and suspended.held == []
    # Without an answer it waits on.
    again = box.resume(suspended, functions=ask(Deferred("t1")))
    assert again.tickets == suspended.tickets
    assert box.resume(again, answers={"t1": "yes"}, functions=ask("unused")).value == "yes"


def test_a_function_of_the_toolbox_that_answers_later(reopen, flavor):
    async def later(q):
        await asyncio.sleep(0)
        return Deferred("t1")

    functions = {"ask": (lambda q: Deferred("t1")) if flavor == "sync" else later}
    with reopen(functions=functions) as box:
        suspended = add_tools(box).run_suspendable("asks", {"q": "?"})
        assert box.resume(suspended, answers={"t1": {"a": [1, None, "é"]}}).value == {"a": [1, None, "é"]}


def test_an_exception_as_an_answer_is_a_failure_of_the_function(box):
    suspended = box.run_suspendable("asks", {"q": "?"}, functions=ask(Deferred("t1")))
    error = LookupError("nobody answered")
    with pytest.raises(ToolFailed, match="LookupError: nobody answered") as failed:
        box.resume(suspended, answers={"t1": error}, functions=ask("unused"))
    assert failed.value.__cause__ is error
    suspended = box.run_suspendable("asks", {"q": "?"}, functions=ask(Deferred("t1")))
    with pytest.raises(ToolFailed, match=r"LookupError: half \?"):
        box.resume(suspended, answers={"t1": LookupError("half \ud800")}, functions=ask("unused"))


def test_an_answer_is_checked_as_a_result_is(box):
    suspended = box.run_suspendable("asks", {"q": "?"}, functions=ask(Deferred("t1")))
    with pytest.raises(ToolFailed, match="does not match its declaration"):
        box.resume(suspended, answers={"t1": 5}, functions=ask("unused"))


def test_an_unknown_ticket_is_refused_and_the_run_stays_suspended(box):
    suspended = box.run_suspendable("asks", {"q": "?"}, functions=ask(Deferred("t1")))
    with pytest.raises(Refused) as unknown:
        box.resume(suspended, answers={"t2": "yes"}, functions=ask("unused"))
    assert unknown.value.code == "ticket-unknown"
    assert box.resume(suspended, answers={"t1": "yes"}, functions=ask("unused")).value == "yes"


def test_a_run_that_is_not_suspendable_does_not_wait_for_an_answer(box):
    with pytest.raises(ToolFailed, match="answers later"):
        box.run("asks", {"q": "?"}, functions=ask(Deferred("t1")))
    with pytest.raises(ToolFailed, match="answers later"):
        box.run_code(ASK, {"q": "?"}, functions=ask(Deferred("t1")))


def test_a_ticket_is_a_text():
    assert repr(Deferred("t1")) == "Deferred('t1')" and Deferred("t1").ticket == "t1"
    with pytest.raises(TypeError, match="ticket is a int"):
        Deferred(5)
    with pytest.raises(ValueError, match="ticket is empty"):
        Deferred("")


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"run": 5}, TypeError, "run is a int, it must be a SuspendedRun or the identifier of one"),
        ({"run": "\ud800"}, ValueError, "run has half a character"),
        ({"answers": ["yes"]}, TypeError, "answers is a list, it must be a dict"),
        ({"answers": {5: "yes"}}, TypeError, "answers has the key 5, which is a int, not a str"),
        ({"answers": {"t1": {1}}}, TypeError, r"answers\['t1'\] is a set, which is not JSON"),
        ({"answers": {"t1": {"a": [math.nan]}}}, ValueError, r"answers\['t1'\]\['a'\]\[0\] is nan"),
        ({"answers": {"t1": {"a": ["\udfff"]}}}, ValueError, r"answers\['t1'\] has half a character \('\\udfff'\)"),
        ({"answers": {"\ud800": 1}}, ValueError, r"answers\['\\ud800'\] has half a character"),
        ({"answers": {"t1": ValueError}}, TypeError, r"answers\['t1'\] is a type, which is not JSON"),
        ({"effect_approver": 5}, TypeError, "effect_approver is a int, it must be callable"),
        ({"functions": {"ask": 5}}, TypeError, r"functions\['ask'\] is a int"),
        ({"caller": {"who": "x"}}, ValueError, "caller has 'who'"),
    ],
)
def test_wrong_arguments_of_resume_are_named(box, options, kind, says):
    with pytest.raises(kind, match=says):
        box.resume(**{"run": "r_none", **options})


def test_types_of_results_are_read_by_other_libraries():
    assert typing.get_type_hints(SuspendedRunInfo)["since"] is datetime.datetime
    assert typing.get_type_hints(SuspendedRun)["bytes"] is typing.get_type_hints(HeldEffect)["position"] is int


def test_wrong_arguments_of_runs_are_named(box):
    for run in (box.run, box.run_suspendable):
        with pytest.raises(TypeError, match="effect_approver is a str, it must be callable"):
            run("note", effect_approver="yes")
        with pytest.raises(TypeError, match="tool is a int"):
            run(5)
        with pytest.raises(TypeError, match="params is a list"):
            run("note", [1])
    with pytest.raises(TypeError, match="effect_approver"):
        box.run_code(TWICE, effect_approver=lambda held: True)


def test_suspended_runs_need_a_store(isolation):
    with Toolbox(isolation=isolation) as box:
        for call, name in (
            (lambda: box.run_suspendable("note"), "run_suspendable"),
            (lambda: box.resume("r_none"), "resume"),
            (lambda: box.suspended(), "suspended"),
        ):
            with pytest.raises(Refused, match=f"no store, which `{name}` needs"):
                call()


def test_suspended_runs_and_held_effects_are_pickled_and_copied(box, approver):
    suspended = box.run_suspendable("note", {"text": "x"}, effect_approver=approver(None))
    (info,) = box.suspended()
    for one in (suspended, suspended.held[0], info):
        for other in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert other == one and type(other) is type(one)
    assert isinstance(suspended.held[0], HeldEffect)
    carried = pickle.loads(pickle.dumps(suspended))
    assert pickle.loads(pickle.dumps(box.resume(carried, effect_approver=approver(True)))).value == "x"
