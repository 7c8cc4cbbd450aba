"""The toolbox of an event loop."""

import asyncio
import gc
import time
import weakref

import pytest
from conftest import SPIN, STEPS, TWICE

from toolcell import AsyncToolbox, Function, Hook, Stopped, ToolFailed


def test_runs_in_parallel_and_coroutines_as_functions(isolation, tmp_path):
    async def price(sku: str) -> int:
        await asyncio.sleep(0.01)
        return len(sku)

    async def main():
        async with AsyncToolbox(tmp_path / "store", isolation=isolation, functions={"price": price}) as box:
            code = "const execute = async ({ n }) => n + await tools.call('price', { sku: 'tea' })"
            runs = await asyncio.gather(*(box.run_code(code, {"n": n}) for n in range(20)))
            assert [run.value for run in runs] == list(range(3, 23))
            await box.create("twice", "Doubles", TWICE)
            assert (await box.run("twice", {"n": 4})).value == 8
            assert (await box.list()).total == 1

    asyncio.run(main())


def test_cancelling_a_task_cancels_its_run_within_100_ms(isolation, tmp_path):
    async def main():
        async with AsyncToolbox(tmp_path / "store", isolation=isolation) as box:
            await box.create("spin", "Spins", SPIN)
            await box.approve("spin")
            await box.run_code(TWICE, {"n": 1})
            task = asyncio.ensure_future(_run(box.run("spin")))
            await asyncio.sleep(0.2)
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - began < 0.1
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(_run(box.run("spin")), 0.2)
            run = box.run("spin")
            run.cancel()
            with pytest.raises(Stopped) as stopped:
                await run
            assert stopped.value.code == "cancelled"

    asyncio.run(main())


async def _run(run):
    return await run


def test_partial_results_and_leaving_early(isolation, tmp_path):
    async def main():
        async with AsyncToolbox(isolation=isolation) as box:
            async with box.run_code(STEPS, {"n": 3}) as run:
                assert [update async for update in run] == [0, 1, 2]
                assert (await run).value == 3
            async with box.run_code(STEPS, {"n": 1e9}) as run:
                async for update in run:
                    assert update >= 0
                    break
            with pytest.raises(Stopped):
                await run

    asyncio.run(main())


def test_what_a_coroutine_raises_and_one_that_hangs(isolation):
    async def fails() -> None:
        raise KeyError("lost")

    async def hangs() -> None:
        await asyncio.sleep(60)

    async def main():
        functions = {"fails": fails, "hangs": Function(hangs, timeout=0.2), "stays": hangs}
        async with AsyncToolbox(isolation=isolation, functions=functions) as box:
            with pytest.raises(ToolFailed, match="lost") as failed:
                await box.run_code("const execute = () => tools.call('fails', {})")
            assert isinstance(failed.value.__cause__, KeyError)
            with pytest.raises(ToolFailed, match="no answer within 0.2 s"):
                await box.run_code("const execute = () => tools.call('hangs', {})")
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                await box.run_code("const execute = () => tools.call('stays', {})", limits={"timeout": 0.3})
            assert time.monotonic() - began < 1.5

    asyncio.run(main())


def test_hooks_and_approvers_may_be_coroutines(isolation, tmp_path):
    async def house(event):
        await asyncio.sleep(0)
        return {"permissionDecision": "deny"} if event["toolName"] == "rm" else None

    async def approver(question):
        await asyncio.sleep(0)
        return True

    async def main():
        policy = "[grants.default]\ntimers = true\n"
        hooks = [Hook("house", before=house)]
        async with AsyncToolbox(tmp_path, policy=policy, isolation=isolation, hooks=hooks, approver=approver) as box:
            code = "const execute = () => new Promise((done) => setTimeout(done, 1, 1))"
            await box.create("later", "Waits", code, capabilities=["timers"])
            assert (await box.run("later")).value == 1
            assert not (await box.decide("rm", {})).allowed

    asyncio.run(main())


def test_another_loop_and_an_unopened_toolbox_say_what_to_do(isolation):
    box = AsyncToolbox(isolation=isolation)

    async def use():
        return await box.run_code(TWICE, {"n": 1})

    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(use())
    asyncio.run(box.open())
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(use())


def test_the_event_loop_stays_free_while_threads_run_tools(isolation):
    async def main():
        delays = []

        async def watch():
            while True:
                began = time.monotonic()
                await asyncio.sleep(0.005)
                delays.append(time.monotonic() - began - 0.005)

        async with AsyncToolbox(isolation=isolation) as box:
            watcher = asyncio.ensure_future(watch())
            work = "const execute = () => { let s = 0; for (let i = 0; i < 1e4; i++) s += i; return s }"
            for _ in range(20):
                await asyncio.gather(*(box.run_code(work) for _ in range(8)))
            watcher.cancel()
        delays.sort()
        print(f"{isolation}: delay of the event loop, p99: {delays[int(len(delays) * 0.99)] * 1e3:.1f} ms")

    asyncio.run(main())


MANY = "const execute = () => Promise.all(Array.from({ length: 20 }, (_, n) => tools.call('f', { n })))"


@pytest.mark.parametrize("closes", [True, False])
def test_no_function_begins_once_its_run_is_over(isolation, closes):
    begun: list[float] = []

    def slow(n: int) -> int:
        begun.append(time.monotonic())
        time.sleep(0.5)
        return n

    async def main() -> None:
        box = AsyncToolbox(isolation=isolation)
        await box.open()
        with pytest.raises(Stopped):
            await box.run_code(MANY, functions={"f": slow}, limits={"timeout": 0.3})
        over = time.monotonic()
        if closes:
            await box.close()
        # Those that wait for a thread would get one now.
        await asyncio.sleep(0.8)
        await box.close()
        assert 0 < len(begun) < 20
        assert max(begun) < over

    asyncio.run(main())


def test_what_an_async_toolbox_refers_to_goes_with_it(isolation):
    class Secrets(dict[str, str]):
        pass

    async def once() -> "weakref.ref[Secrets]":
        secrets = Secrets()
        box = AsyncToolbox(isolation=isolation, secrets=secrets)
        await box.open()
        assert (await box.run_code(TWICE, {"n": 1})).value == 2
        return weakref.ref(secrets)

    async def main() -> None:
        for _ in range(10):
            gone = await once()
            for _ in range(50):
                gc.collect()
                if gone() is None:
                    break
                await asyncio.sleep(0.02)
            assert gone() is None

    asyncio.run(main())
