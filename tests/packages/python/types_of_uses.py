"""The types: this file is checked with mypy and pyright, and not run."""

import asyncio
from collections.abc import Sequence

from toolcell import (
    AsyncToolbox,
    Deferred,
    EffectApprover,
    EffectDecision,
    HeldEffect,
    Hook,
    HookEvent,
    Profile,
    Question,
    Run,
    RunTimeout,
    SuspendedRun,
    Toolbox,
    ToolFailed,
    Verdict,
)


def house(event: HookEvent) -> Verdict | None:
    return {"permissionDecision": "deny"} if event.get("toolName") == "rm" else None


async def approver(question: Question) -> bool:
    return question.digest is not None


async def price(sku: str) -> int:
    return len(sku)


def later(held: Sequence[HeldEffect]) -> EffectDecision:
    return None if any(effect.kind == "fetch" for effect in held) else True


async def choose(held: Sequence[HeldEffect]) -> list[bool]:
    return [effect.bytes < 1000 and effect.body is None for effect in held]


def ask(text: str) -> str | Deferred:
    return Deferred("ticket") if text else ""


approvers: list[EffectApprover] = [later, choose, lambda held: True, lambda held: [None] * len(held)]


async def suspends(box: AsyncToolbox) -> str:
    async with box.run_suspendable("order", effect_approver=choose, functions={"ask": ask}) as run:
        async for update in run:
            print(update)
        ended = await run
    while isinstance(ended, SuspendedRun):
        answers = {one.ticket: TimeoutError("nobody") for one in ended.tickets}
        ended = await box.resume(ended, answers=answers, effect_approver=later)
    for info in await box.suspended():
        print(info.since.isoformat(), (await box.resume(info)))
    async for _ in box.changes(timeout=1.5):
        break
    replay = await box.replay(ended.receipt or "")
    return replay.differences[0].part if not replay.reproduced else ended.text


def profiles(run: Run[int]) -> str:
    profile = run.profile
    if profile is None:
        return ""
    dearest = max(profile.lines, key=lambda line: line.own)
    again: Profile = Profile.from_json(profile.to_json())
    frames = [again.functions[at].name for stack in again.stacks for at, _ in stack.frames]
    return f"{profile.functions[0].name} {dearest.text} {profile.outside.engine} {frames} {again.flame_graph()}"


async def main() -> float:
    async with AsyncToolbox("tools", hooks=[Hook("house", before=house)], approver=approver, functions={"price": price}) as box:
        created = await box.create("twice", "Doubles", "", parameters={"n": {"type": "number", "required": True}})
        run = await box.run("twice", {"n": 21}, limits={"timeout": 1.5})
        async with box.run("steps", {"n": 3}) as steps:
            async for update in steps:
                print(update)
        try:
            await asyncio.wait_for(box.run("forever"), 0.3)
        except (TimeoutError, ToolFailed, RunTimeout) as error:
            print(error)
        print((await box.decide("bash", {"command": "ls"})).allowed, created.findings[0].rule)
        return float(run.value) + run.duration


with Toolbox() as sync:
    print(sync.run_code("const execute = () => 42").value)
    waits = sync.run_suspendable("order", {"n": 1}, effect_approver=later, on_update=print)
    held: Sequence[HeldEffect] = waits.held if isinstance(waits, SuspendedRun) else []
    for _ in sync.changes(timeout=1):
        print(held, sync.suspended()[0].caller, sync.replay("").signed_here)
