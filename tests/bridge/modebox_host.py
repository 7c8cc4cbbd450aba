"""A program in which modebox runs code that calls the tools of an MCP server: `modebox_host.py sdk|plain SERVER`. It reads scripts, one
JSON string a line, and writes what each returns.

The package has no client of MCP, so its host lends one to the code, as functions: with the official SDK (`sdk`), or with the
least that can call a tool (`plain`), which checks nothing and knows no deadline.

Invariant: the connection is made before the first script and serves all of them, and all runs share one engine.
"""

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import modebox

Call = Callable[[str, dict], Awaitable[object]]


@asynccontextmanager
async def sdk(server: str) -> AsyncIterator[Call]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async with stdio_client(StdioServerParameters(command=server)) as streams, ClientSession(*streams) as session:
        await session.initialize()

        async def call(tool: str, arguments: dict) -> object:
            result = await session.call_tool(tool, arguments)
            if result.is_error:
                raise RuntimeError(str(result.content))
            return result.structured_content

        yield call


@asynccontextmanager
async def plain(server: str) -> AsyncIterator[Call]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(server, stdin=pipe, stdout=pipe)
    waiting: dict[int, asyncio.Future] = {}
    ids = itertools.count()

    def send(message: dict) -> None:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def request(method: str, params: dict) -> dict:
        id = next(ids)
        waiting[id] = asyncio.get_running_loop().create_future()
        send({"id": id, "method": method, "params": params})
        return await waiting[id]

    async def read() -> None:
        while line := await process.stdout.readline():
            message = json.loads(line)
            waiting.pop(message["id"]).set_result(message["result"])

    reading = asyncio.create_task(read())
    client = {"name": "host", "version": "1"}
    await request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    send({"method": "notifications/initialized"})
    await request("tools/list", {})

    async def call(tool: str, arguments: dict) -> object:
        return (await request("tools/call", {"name": tool, "arguments": arguments}))["structuredContent"]

    yield call
    process.stdin.close()
    await reading
    await process.wait()


async def main(connect: str, server: str) -> None:
    async with {"sdk": sdk, "plain": plain}[connect](server) as call:
        runner = modebox.Runner()
        functions = {"echo": {"echo": lambda arguments: call("echo", arguments)}}
        # Nothing else is to be done while the next script is waited for.
        for line in sys.stdin:
            result = await runner.run(json.loads(line), host_functions=functions)
            print(json.dumps({"value": result.value}), flush=True)


asyncio.run(main(*sys.argv[1:]))
