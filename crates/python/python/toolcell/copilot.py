"""Toolcell's tools for the Copilot SDK.

A call that needs an approval is a permission request, whose ``tool_description`` is the text to show. Other calls of
Toolcell's tools are approved without a request. An approval holds for one call, also one for the session, and is
kept in memory: a call that was approved elsewhere is refused.
"""

from __future__ import annotations

import base64
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from . import AsyncToolbox, Caller, CallResult, Limits, Question, ToolDefinition

try:
    from copilot.rpc import PermissionDecisionApproveOnce
    from copilot.session import AttributedPermissionResult, PermissionInvocation, PermissionRequestResult
    from copilot.session_events import PermissionPromptRequestCustomTool, PermissionRequest, PermissionRequestCustomTool
    from copilot.tools import Tool, ToolBinaryResult, ToolInvocation, ToolResult
except ImportError as error:
    raise ImportError("toolcell.copilot needs the Copilot SDK: pip install 'toolcell[copilot]'") from error

_Decision = Union[PermissionRequestResult, AttributedPermissionResult]
_Handler = Callable[[PermissionRequest, PermissionInvocation], Union[_Decision, Awaitable[_Decision]]]


async def toolcell_tools(
    box: AsyncToolbox,
    on_permission_request: _Handler,
    *,
    operations: Sequence[str] | None = None,
    published: int = 32,
    caller: Caller | None = None,
    limits: Limits | None = None,
) -> tuple[list[Tool], Callable[[PermissionRequest, PermissionInvocation], Awaitable[_Decision]]]:
    """Returns ``tools`` and ``on_permission_request`` of a session. An abort cancels the run of a tool.

    The returned handler calls the given one for other tools, and for calls that need an approval.
    """
    definitions = await box.definitions(operations=operations, published=published)
    names = {one.name for one in definitions}
    approved: dict[str | None, Sequence[Question]] = {}

    def claims_of(session: str, call: str | None) -> Caller:
        return {"session": session, "call": call or "", **(caller or {})}

    async def permit(request: PermissionRequest, invocation: PermissionInvocation) -> _Decision:
        questions: Sequence[Question] = ()
        if isinstance(request, PermissionRequestCustomTool) and request.tool_name in names:
            claims = claims_of(invocation["session_id"], request.tool_call_id)
            questions = await box.questions(request.tool_name, request.args, caller=claims)
            if not questions and not request.managed_approval_required:
                return PermissionDecisionApproveOnce()
            if questions:
                text = "\n\n".join(map(str, questions))
                request = replace(request, tool_description=text)
                if isinstance(prompt := invocation.get("prompt_request"), PermissionPromptRequestCustomTool):
                    invocation = {**invocation, "prompt_request": replace(prompt, tool_description=text)}
        answer = on_permission_request(request, invocation)
        decision = await answer if inspect.isawaitable(answer) else answer
        result = decision.result if isinstance(decision, AttributedPermissionResult) else decision
        if not questions or not result.kind.startswith("approve"):
            return decision
        approved[request.tool_call_id] = questions
        return PermissionDecisionApproveOnce()

    def tool(definition: ToolDefinition) -> Tool:
        async def handle(invocation: ToolInvocation) -> ToolResult:
            questions = approved.pop(invocation.tool_call_id, ())
            claims = claims_of(invocation.session_id, invocation.tool_call_id)
            result = await box.call(definition.name, invocation.arguments, approved=questions, caller=claims, limits=limits)
            return _output(result)

        return Tool(definition.name, definition.description, handle, definition.input_schema, defer="never")

    return [tool(one) for one in definitions], permit


def _output(result: CallResult) -> ToolResult:
    images = [ToolBinaryResult(base64.b64encode(one.data).decode(), one.mime_type) for one in result.images]
    if not result.is_error:
        return ToolResult(result.text, "success", binary_results_for_llm=images or None)
    code = None if result.error is None else result.error.code
    return ToolResult(result.text, "timeout" if code == "timeout" else "failure", error=code)
