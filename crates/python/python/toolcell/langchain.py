"""Toolcell's tools for LangChain and LangGraph.

A call that needs an approval calls :func:`langgraph.types.interrupt`. The value of the interrupt has the ``text``
to show and the ``questions``. ``Command(resume={"approved": value["questions"]})`` approves the call, and any other
answer refuses it. The answer carries the questions, so it is valid in another process, and an approval holds for
the call and the tool that were shown. Outside of a graph, a call that needs an approval is refused.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from . import Question

if TYPE_CHECKING:
    from . import AsyncToolbox, Caller, CallResult, Limits, Toolbox, ToolDefinition

try:
    from langchain_core.tools import BaseTool, ToolException
    from langgraph.types import interrupt
except ImportError as error:
    raise ImportError("toolcell.langchain needs LangGraph: pip install 'toolcell[langchain]'") from error

_Output = tuple["str | list[dict[str, Any]]", Any]


async def toolcell_tools(
    box: AsyncToolbox,
    *,
    operations: Sequence[str] | None = None,
    published: int = 32,
    caller: Caller | None = None,
    limits: Limits | None = None,
) -> list[BaseTool]:
    """Returns the tools for an agent that is awaited. Cancelling its task cancels the run of a tool."""
    definitions = await box.definitions(operations=operations, published=published)
    return [_AsyncTool.create(one, box, caller, limits) for one in definitions]


def blocking_toolcell_tools(
    box: Toolbox,
    *,
    operations: Sequence[str] | None = None,
    published: int = 32,
    caller: Caller | None = None,
    limits: Limits | None = None,
) -> list[BaseTool]:
    """Returns the tools for an agent that is invoked without an event loop."""
    definitions = box.definitions(operations=operations, published=published)
    return [_BlockingTool.create(one, box, caller, limits) for one in definitions]


class _Tool(BaseTool):
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    # A failed call is a ToolMessage whose status is "error".
    handle_tool_error: Any = True
    _box: Any = None
    _options: dict[str, Any] = {}

    @classmethod
    def create(cls, one: ToolDefinition, box: object, caller: Caller | None, limits: Limits | None) -> BaseTool:
        tool = cls(name=one.name, description=one.description, args_schema=one.input_schema)
        tool._box, tool._options = box, {"caller": caller, "limits": limits}
        return tool

    def _run(self, /, **args: Any) -> _Output:
        raise NotImplementedError("this tool has an AsyncToolbox: use ainvoke, or blocking_toolcell_tools")


class _AsyncTool(_Tool):
    # Parameters may have any name, also `self` or `config`.
    async def _arun(self, /, **args: Any) -> _Output:
        approved = _approved(self.name, args, await self._box.questions(self.name, args, caller=self._options["caller"]))
        return _output(await self._box.call(self.name, args, approved=approved, **self._options))


class _BlockingTool(_Tool):
    def _run(self, /, **args: Any) -> _Output:
        approved = _approved(self.name, args, self._box.questions(self.name, args, caller=self._options["caller"]))
        return _output(self._box.call(self.name, args, approved=approved, **self._options))


def _approved(name: str, args: dict[str, Any], questions: Sequence[Question]) -> list[Question]:
    """Returns the questions that a person approved. To resume, LangGraph calls the tool again."""
    if not questions:
        return []
    text = "\n\n".join(map(str, questions))
    value = {"name": name, "args": args, "text": text, "questions": [one.to_json() for one in questions]}
    try:
        answer: Any = interrupt(value)
    except (KeyError, RuntimeError):
        # Outside of a graph, the call is refused.
        return []
    decision = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    approved: Any = decision.get("approved")
    try:
        questions = [Question.from_json(one) for one in approved] if isinstance(approved, list) else []
    except (TypeError, ValueError):
        questions = []
    if not questions:
        raise ToolException(f"a person did not approve this call of `{name}`")
    return questions


def _output(result: CallResult) -> _Output:
    if result.is_error:
        raise ToolException(result.text)
    images = [(one.mime_type, base64.b64encode(one.data).decode()) for one in result.images]
    if not images:
        return result.text, result.structured
    blocks = [{"type": "image", "mime_type": mime_type, "base64": data} for mime_type, data in images]
    return [{"type": "text", "text": result.text}, *blocks], result.structured
