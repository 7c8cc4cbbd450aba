"""Toolcell's tools for Pydantic AI.

A call that needs an approval is deferred: it is in ``DeferredToolRequests.approvals``, and
``requests.metadata[call.tool_call_id]["text"]`` is the text to show. An approval has to pass the metadata back::

    results = requests.build_results(approvals={call.tool_call_id: True}, metadata=requests.metadata)

The metadata carries the questions, so it is valid in another process, and the approval holds for the call and the
tool that were shown. A call that is approved without the metadata is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import Question

if TYPE_CHECKING:
    from . import AsyncToolbox, Caller, CallResult, Limits, ToolDefinition

try:
    from pydantic_ai import ApprovalRequired, BinaryContent, RunContext, Tool, ToolReturn
    from pydantic_ai.exceptions import ToolFailed
except ImportError as error:
    raise ImportError("toolcell.pydantic_ai needs Pydantic AI: pip install 'toolcell[pydantic-ai]'") from error


async def toolcell_tools(
    box: AsyncToolbox,
    *,
    operations: Sequence[str] | None = None,
    published: int = 32,
    caller: Caller | None = None,
    limits: Limits | None = None,
) -> list[Tool[Any]]:
    """Returns the tools for an agent. Cancelling the task of a run cancels the run of a tool.

    The agent needs ``DeferredToolRequests`` among its output types, or a handler of deferred calls.
    """
    definitions = await box.definitions(operations=operations, published=published)
    return [_tool(box, one, caller or {}, limits) for one in definitions]


def _tool(box: AsyncToolbox, definition: ToolDefinition, caller: Caller, limits: Limits | None) -> Tool[Any]:
    # Parameters may have any name, also `context`.
    async def call(context: RunContext[Any], /, **args: Any) -> ToolReturn[Any]:
        claims: Caller = {"call": context.tool_call_id or "", **caller}
        approved: list[Question] = []
        if context.tool_call_approved:
            metadata: dict[str, Any] = context.tool_call_metadata or {}
            approved = [Question.from_json(one) for one in metadata.get("questions", ())]
        elif questions := await box.questions(definition.name, args, caller=claims):
            text = "\n\n".join(map(str, questions))
            raise ApprovalRequired(metadata={"text": text, "questions": [one.to_json() for one in questions]})
        return _output(await box.call(definition.name, args, approved=approved, caller=claims, limits=limits))

    return Tool.from_schema(call, definition.name, definition.description, definition.input_schema, takes_ctx=True)


def _output(result: CallResult) -> ToolReturn[Any]:
    if result.is_error:
        # A ModelRetry would end the run of the agent after some failures.
        raise ToolFailed(result.text)
    images = [BinaryContent(one.data, media_type=one.mime_type) for one in result.images]
    return ToolReturn([result.text, *images] if images else result.text, metadata=result.structured)
