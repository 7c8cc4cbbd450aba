"""What a second reader tried at the edges of the package."""

import asyncio
import contextvars
import copy
import functools
import os
import pickle
import threading
import time
from typing import Annotated

import pytest
from conftest import SPIN, TWICE
from pydantic import BaseModel, ConfigDict, Field

from toolcell import AsyncToolbox, Function, Hook, Refused, Stopped, Toolbox, ToolFailed

CALL = "const execute = (p) => tools.call('f', p)"
ASKS = Hook("asks", before=lambda event: {"permissionDecision": "ask", "permissionDecisionReason": "who knows"})


def test_a_text_is_not_a_list_of_names(box):
    with pytest.raises(TypeError, match="tools of the hook 'h' is a str"):
        Hook("h", before=lambda event: None, tools="shell")
    with pytest.raises(TypeError, match="tags is a str"):
        box.create("twice", "Doubles", TWICE, tags="math")
    with pytest.raises(TypeError, match="tags is a str"):
        box.list(tags="math")
    for bad in (lambda: Toolbox(hooks=Hook("h")), lambda: Toolbox(approver=5), lambda: Toolbox(secrets=5), lambda: Toolbox(slots=0)):
        with pytest.raises((TypeError, ValueError)):
            bad()


def test_constraints_of_annotations_hold(box):
    def transfer(amount: Annotated[int, Field(gt=0, le=100)]) -> int:
        return amount

    assert box.run_code(CALL, {"amount": 5}, functions={"f": transfer}).value == 5
    for one in (transfer, functools.partial(transfer), type("C", (), {"__call__": lambda self, amount: transfer(amount)})()):
        if one is transfer or isinstance(one, functools.partial):
            with pytest.raises(ToolFailed):
                box.run_code(CALL, {"amount": -1}, functions={"f": one})

    def unreadable(amount: "Missing"):  # noqa: F821
        return amount

    with pytest.raises(TypeError, match=r"functions\['f'\].*Missing"):
        box.run_code(CALL, {"amount": 1}, functions={"f": unreadable})


def test_models_of_one_name_and_strict_models(box):
    def two():
        class First(BaseModel):
            class Inner(BaseModel):
                a: int

            i: Inner

        class Second(BaseModel):
            class Inner(BaseModel):
                b: str

            i: Inner

        return First, Second

    First, Second = two()

    class Strict(BaseModel):
        model_config = ConfigDict(strict=True)
        pair: tuple[int, int]

    def both(x, y, z):
        return x.i.a + len(y.i.b) + z.pair[1]

    both.__annotations__ = {"x": First, "y": Second, "z": Strict}
    params = {"x": {"i": {"a": 1}}, "y": {"i": {"b": "bb"}}, "z": {"pair": [0, 3]}}
    assert box.run_code(CALL, params, functions={"f": both}).value == 6


def test_a_question_does_not_control_the_terminal(isolation, tmp_path):
    source = "const execute = () => { setTimeout(() => {}, 1); /* \x1b[2J\u202e safe */ }"
    asked = []
    with Toolbox(tmp_path / "s", policy="[grants.default]\ntimers = true\n", approver=asked.append, isolation=isolation) as box:
        box.create("x", "d", source, capabilities=["timers"])
        with pytest.raises(Refused):
            box.run("x")
    assert "\x1b" not in str(asked[0]) and "\u202e" not in str(asked[0]) and "safe" in str(asked[0])
    assert asked[0].source == source


def test_an_interrupt_in_a_function_ends_the_run(box):
    paid = []

    def stop():
        raise KeyboardInterrupt

    code = """const execute = async () => {
      try { await tools.call('stop', {}) } catch {}
      for (let i = 0; i < 5; i++) await tools.call('pay', {})
    }"""
    with pytest.raises(KeyboardInterrupt):
        box.run_code(code, functions={"stop": stop, "pay": lambda: paid.append(1)})
    assert paid == []


def test_decisions_raise_what_an_approver_is_interrupted_by(isolation):
    def approver(question):
        raise KeyboardInterrupt

    with Toolbox(hooks=[ASKS], approver=approver, isolation=isolation) as box, pytest.raises(KeyboardInterrupt):
        box.decide("x", {})


def test_errors_and_runs_are_pickled_and_copied(box):
    with pytest.raises(ToolFailed) as failed:
        box.run_code("const execute = () => { console.log('here'); throw new RangeError('no') }")
    with pytest.raises(Refused) as refused:
        box.run("none")
    with pytest.raises(Stopped) as stopped:
        box.run_code(SPIN, limits={"timeout": 0.1})
    for error in (failed.value, refused.value, stopped.value):
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert (type(other), str(other), other.code) == (type(error), str(error), error.code)
    assert pickle.loads(pickle.dumps(failed.value)).run.logs[0].text == "here"


def test_the_cause_is_what_the_tool_failed_with(box):
    def f():
        raise ValueError("boom")

    class Bad(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def bad():
        raise Bad

    for code, function, cause in (
        ("const execute = async () => { try { await tools.call('f', {}) } catch {} throw new Error('kaboom') }", f, None),
        ("const execute = async () => { await tools.call('f', {}) }", f, ValueError),
        ("const execute = async () => { await tools.call('f', {}) }", bad, Bad),
    ):
        with pytest.raises(ToolFailed) as failed:
            box.run_code(code, functions={"f": function})
        assert type(failed.value.__cause__) is (cause or type(None))


def test_values_that_nest_without_end_have_a_name(box):
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="params"):
        box.run_code("const execute = (p) => p", {"deep": deep})


def test_a_loop_whose_executor_is_busy_still_decides_and_closes(isolation):
    async def main():
        async def approver(question):
            return await asyncio.to_thread(lambda: True)

        release = threading.Event()
        async with AsyncToolbox(isolation=isolation, approver=approver, hooks=[ASKS]) as box:
            many = [box.decide("shell", {"i": i}) for i in range((os.cpu_count() or 1) + 8)]
            decided = await asyncio.wait_for(asyncio.gather(*many), 20)
            assert all(one.permission == "allow" for one in decided)
            blocked = [asyncio.create_task(asyncio.to_thread(release.wait, 20)) for _ in range(64)]
            await asyncio.sleep(0.1)
            await asyncio.wait_for(box.analyze(TWICE), 5)
            await asyncio.wait_for(box.close(), 5)
            release.set()
            await asyncio.gather(*blocked)

    asyncio.run(main())


def test_many_runs_whose_functions_run_tools(isolation):
    async def main():
        async with AsyncToolbox(isolation=isolation) as box:

            async def nested():
                return (await box.run_code("const execute = () => 1")).value

            runs = [box.run_code("const execute = () => tools.call('f', {})", functions={"f": nested}) for _ in range(270)]
            assert [run.value for run in await asyncio.wait_for(asyncio.gather(*runs), 60)] == [1] * 270

    asyncio.run(main())


def test_an_iteration_raises_the_failure_and_misses_no_update(isolation):
    async def main():
        async with AsyncToolbox(isolation=isolation) as box:
            with pytest.raises(ToolFailed, match="lost"):
                async with box.run_code("const execute = () => { throw new Error('lost') }") as run:
                    async for _ in run:
                        pass
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(box.run_code(CALL, functions={"f": lambda: asyncio.sleep(60)}), 0.3)

    asyncio.run(main())


def test_cancelling_ends_what_waits_for_a_person(isolation):
    async def main():
        async def approver(question):
            await asyncio.sleep(60)

        async with AsyncToolbox(isolation=isolation, approver=approver, hooks=[ASKS]) as box:
            began = time.monotonic()
            for wait in (box.run_code("const execute = () => 1"), box.decide("x", {})):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(wait, 0.2)
            assert time.monotonic() - began < 5

    asyncio.run(main())


def test_functions_have_the_context_of_the_caller(isolation):
    who = contextvars.ContextVar("who", default="nobody")

    async def main():
        async with AsyncToolbox(isolation=isolation) as box:
            who.set("one")

            async def slow():
                return who.get()

            for function in (who.get, slow):
                assert (await box.run_code(CALL, functions={"f": Function(function, parameters={})})).value == "one"

    asyncio.run(main())
