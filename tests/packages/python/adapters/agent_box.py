"""The toolbox that scripted agents use, in the tests of the adapters."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time

from toolcell import AsyncToolbox, Hook

POLICY = "[grants.default]\ntimers = true\n"
TWICE = "const execute = ({ n }: { n: number }) => 2 * n"
NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "number", "minimum": 0, "description": "A number"}},
    "required": ["n"],
    "additionalProperties": False,
}
LATER = "const execute = ({ n }) => new Promise((done) => setTimeout(done, 1, n + 1))"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = """export default () => ({
  name: "image",
  description: "Draws",
  parameters: { type: "object", properties: {} },
  execute: () => ({ content: [{ type: "text", text: "a dot" }, { type: "image", mimeType: "image/png", data: "%s" }] }),
})""" % PIXEL
SPIN = "const execute = () => { for (;;) {} }"


@contextlib.asynccontextmanager
async def agent_box(folder, **options):
    """Opens a toolbox; a new one gets tools: `twice` and `spin` are approved, and `later` needs an approval."""
    async with AsyncToolbox(folder / "store", policy=POLICY, **options) as box:
        if not (await box.list()).total:
            await box.create("twice", "Doubles a number", TWICE, parameters=NUMBER)
            await box.approve("twice")
            await box.create("spin", "Spins", SPIN)
            await box.approve("spin")
            await box.create("throws", "Throws", "const execute = () => { throw new RangeError('out of range') }")
            await box.create("image", "Draws", IMAGE)
            await box.create("later", "Waits", LATER, capabilities=["timers"])
        yield box


def watching_hook(seen):
    """A hook that asks about each call of `twice`, and keeps what callers claim."""

    def before(event):
        seen.append((event.get("sessionId"), event.get("agentId"), event.get("toolCallId")))
        return {"permissionDecision": "ask"} if event["toolName"] == "twice" else None

    return Hook("watching", before=before)


def check_types(modules, folder, work):
    """Checks modules, of packages and of a folder, with mypy."""
    named = [part for module in modules for part in ("-m", module)]
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", *named]
    env = {**os.environ, "MYPYPATH": str(folder)}
    done = subprocess.run(mypy, capture_output=True, text=True, cwd=work, env=env)
    assert done.returncode == 0, done.stdout + done.stderr


async def replace_later(box):
    """Another tool takes the name of the one that a person was asked about."""
    code = LATER.replace("n + 1", "'replaced'")
    await box.create("later", "Waits", code, capabilities=["timers"], replace=True)


def run(name, **parameters):
    """A model's call of a stored tool."""
    return "run_dynamic_tool", {"tool_name": name, "parameters": parameters}


class WatchedBox:
    """A toolbox that says when a call began, and when it was cancelled."""

    def __init__(self, box):
        self._box, self.began, self.cancelled = box, asyncio.Event(), asyncio.Event()
        self.definitions, self.questions = box.definitions, box.questions

    async def call(self, *args, **options):
        self.began.set()
        try:
            return await self._box.call(*args, **options)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


async def check_that_cancelling_ends(watched, work):
    """Cancels work that runs an endless loop: both end within a second."""
    task = asyncio.ensure_future(work)
    await asyncio.wait_for(watched.began.wait(), 20)
    await asyncio.sleep(0.2)
    assert not task.done()
    began = time.monotonic()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await asyncio.wait_for(watched.cancelled.wait(), 1)
    assert time.monotonic() - began < 1
