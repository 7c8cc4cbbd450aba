"""The types: this file is checked with mypy and pyright, and not run."""

import asyncio

from toolcell import AsyncToolbox, Hook, HookEvent, Question, RunTimeout, Toolbox, ToolFailed, Verdict


def house(event: HookEvent) -> Verdict | None:
    return {"permissionDecision": "deny"} if event.get("toolName") == "rm" else None


async def approver(question: Question) -> bool:
    return question.digest is not None


async def price(sku: str) -> int:
    return len(sku)


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
