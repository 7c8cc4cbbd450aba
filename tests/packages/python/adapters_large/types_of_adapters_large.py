"""The types of the adapters: this file is checked with mypy and pyright, and not run."""

from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, PermissionResult, PermissionResultDeny, ToolPermissionContext
from copilot import CopilotClient
from copilot.rpc import PermissionDecisionReject
from copilot.session import PermissionInvocation, PermissionRequestResult
from copilot.session_events import PermissionRequest

from toolcell import AsyncToolbox, claude, copilot


def ask(request: PermissionRequest, invocation: PermissionInvocation) -> PermissionRequestResult:
    return PermissionDecisionReject()


async def use_copilot(box: AsyncToolbox, client: CopilotClient) -> None:
    tools, on_permission_request = await copilot.toolcell_tools(box, ask, operations=["run_code"])
    await client.create_session(tools=tools, on_permission_request=on_permission_request)


async def can_use_tool(tool: str, args: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
    return PermissionResultDeny()


async def use_claude(box: AsyncToolbox) -> ClaudeAgentOptions:
    servers, permit = await claude.toolcell_server(box, can_use_tool, caller={"agent": "a"}, limits={"timeout": 2.0})
    return ClaudeAgentOptions(mcp_servers={**servers}, can_use_tool=permit)
