"""Toolcell's tools for the Claude Agent SDK, as an MCP server in this process.

A call that needs an approval is a permission request: ``can_use_tool`` gets a context whose ``description`` is the
text to show. Other calls of Toolcell's tools are allowed without a request. An approval holds for one call, also one
with a rule, and is kept in memory: a call that is allowed elsewhere (``allowed_tools``, a permission mode) is refused
if it needs an approval.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import AsyncToolbox, Caller, CallResult, Limits, Question, ToolDefinition

try:
    from claude_agent_sdk import CanUseTool, PermissionResult, PermissionResultAllow, ToolPermissionContext
    from claude_agent_sdk.types import McpServerConfig
    from mcp import types as mcp
    from mcp.server import Server, ServerRequestContext
except ImportError as error:
    raise ImportError("toolcell.claude needs the Claude Agent SDK: pip install 'toolcell[claude]'") from error

# The key of the call id in the `_meta` of a request. A call without it has no approval.
_CALL = "claudecode/toolUseId"


async def toolcell_server(
    box: AsyncToolbox,
    can_use_tool: CanUseTool,
    *,
    name: str = "toolcell",
    operations: Sequence[str] | None = None,
    published: int = 32,
    caller: Caller | None = None,
    limits: Limits | None = None,
) -> tuple[dict[str, McpServerConfig], CanUseTool]:
    """Returns ``mcp_servers`` and ``can_use_tool`` of the options. An interrupt cancels the run of a tool.

    The returned callback calls the given one for other tools than ``mcp__NAME__…``, and for calls that need an approval.
    """
    definitions = await box.definitions(operations=operations, published=published)
    names = {f"mcp__{name}__{one.name}": one.name for one in definitions}
    approved: dict[str | None, Sequence[Question]] = {}

    def claims_of(call: str | None) -> Caller:
        return {"call": call or "", **(caller or {})}

    async def permit(tool: str, args: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
        if tool not in names:
            return await can_use_tool(tool, args, context)
        questions = await box.questions(names[tool], args, caller=claims_of(context.tool_use_id))
        if not questions:
            return PermissionResultAllow()
        result = await can_use_tool(tool, args, replace(context, description="\n\n".join(map(str, questions))))
        if not isinstance(result, PermissionResultAllow):
            return result
        approved[context.tool_use_id] = questions
        return PermissionResultAllow(updated_input=result.updated_input)

    async def list_tools(context: ServerRequestContext, params: object) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[_tool(one) for one in definitions])

    async def call_tool(context: ServerRequestContext, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        if params.name not in names.values():
            text = mcp.TextContent(text=f"error: `{params.name}` is not offered")
            return mcp.CallToolResult(content=[text], is_error=True)
        call = str((context.meta or {}).get(_CALL, ""))
        questions, claims = approved.pop(call, ()), claims_of(call)
        return _result(await box.call(params.name, params.arguments, approved=questions, caller=claims, limits=limits))

    # `create_sdk_mcp_server` would match the patterns of schemas in this process, and models write schemas (ReDoS).
    server = Server(name, on_list_tools=list_tools, on_call_tool=call_tool)
    return {name: {"type": "sdk", "name": name, "instance": server}}, permit


def _tool(one: ToolDefinition) -> mcp.Tool:
    hints = mcp.ToolAnnotations(
        read_only_hint=one.read_only,
        destructive_hint=one.destructive,
        idempotent_hint=one.idempotent,
        open_world_hint=one.open_world,
    )
    return mcp.Tool(
        name=one.name, title=one.title, description=one.description, input_schema=one.input_schema, annotations=hints
    )


def _result(result: CallResult) -> mcp.CallToolResult:
    """Returns text and images. Structured content would replace the text that Claude Code shows the model."""
    images = [(one.mime_type, base64.b64encode(one.data).decode()) for one in result.images]
    content: list[mcp.ContentBlock] = [mcp.TextContent(text=result.text)]
    content += [mcp.ImageContent(mime_type=mime_type, data=data) for mime_type, data in images]
    return mcp.CallToolResult(content=content, is_error=result.is_error)
