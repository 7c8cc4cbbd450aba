"""Toolcell's tools for the OpenAI Agents SDK.

A call that needs an approval interrupts the run (``result.interruptions``). The mapping ``asked`` has the questions
to show, by the id of the call::

    for item in result.interruptions:
        for question in asked.get(item.call_id or "", []):
            print(question)
        state.approve(item)

An approval holds for these questions. To resume in another process, store them beside the state of the run
(``Question.to_json``) and fill the mapping with them (``Question.from_json``). A call whose questions are not in the
mapping is refused, also after ``always_approve``. An interruption without questions is a call whose arguments are no
JSON object.
"""

from __future__ import annotations

import base64
import json
from collections.abc import MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from . import AsyncToolbox, Caller, CallResult, Limits, Question, ToolDefinition

try:
    from agents import FunctionTool, RunContextWrapper, ToolOutputImage, ToolOutputText
    from agents.tool_context import ToolContext
except ImportError as error:
    raise ImportError("toolcell.openai_agents needs the SDK: pip install 'toolcell[openai-agents]'") from error


async def toolcell_tools(
    box: AsyncToolbox,
    *,
    asked: MutableMapping[str, list[Question]] | None = None,
    operations: Sequence[str] | None = None,
    published: int = 32,
    caller: Caller | None = None,
    limits: Limits | None = None,
) -> list[FunctionTool]:
    """Returns the tools for an agent. Cancelling the task of a run cancels the run of a tool.

    ``asked`` gets the questions of the calls that need an approval; without it, these calls are refused.
    """
    definitions = await box.definitions(operations=operations, published=published)
    return [_function_tool(box, one, asked, caller or {}, limits) for one in definitions]


def _function_tool(
    box: AsyncToolbox,
    definition: ToolDefinition,
    asked: MutableMapping[str, list[Question]] | None,
    caller: Caller,
    limits: Limits | None,
) -> FunctionTool:
    async def needs_approval(context: RunContextWrapper[Any], args: dict[str, Any], call: str) -> bool:
        questions = await box.questions(definition.name, args, caller={"call": call, **caller})
        if asked is not None and questions:
            asked[call] = list(questions)
        return bool(questions)

    async def invoke(context: ToolContext[Any], text: str) -> Any:
        approved = [] if asked is None else asked.pop(context.tool_call_id, [])
        try:
            parsed: Any = json.loads(text or "{}")
        except (ValueError, RecursionError) as error:
            return f"error: the arguments are not JSON: {error}"
        if not isinstance(parsed, dict):
            return "error: the arguments are not a JSON object"
        args = cast("dict[str, Any]", parsed)
        claims: Caller = {"call": context.tool_call_id, **caller}
        return _output(await box.call(definition.name, args, approved=approved, caller=claims, limits=limits))

    return FunctionTool(
        name=definition.name,
        description=definition.description,
        params_json_schema=definition.input_schema,
        on_invoke_tool=invoke,
        # Strict mode would change the schema, which has optional fields.
        strict_json_schema=False,
        needs_approval=False if asked is None else needs_approval,
    )


def _output(result: CallResult) -> str | list[ToolOutputText | ToolOutputImage]:
    """Returns what the model reads. The SDK has no mark for a failure: the text says it."""
    if not result.images:
        return result.text
    images = [(one.mime_type, base64.b64encode(one.data).decode()) for one in result.images]
    urls = [ToolOutputImage(image_url=f"data:{mime_type};base64,{data}") for mime_type, data in images]
    return [ToolOutputText(text=result.text), *urls]
