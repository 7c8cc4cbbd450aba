"""Runs the tools that an AI agent writes while it works, each call in a sealed cell.

>>> from toolcell import Toolbox
>>> with Toolbox(isolation="process") as box:
...     run = box.run_code(
...         "const execute = async ({ sku }) => (await tools.call('price', { sku })) * 2",
...         {"sku": "tea"},
...         functions={"price": lambda sku: len(sku)},
...     )
>>> run.value
6

:class:`Toolbox` blocks, :class:`AsyncToolbox` is for an event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import Effects, Refused, RunTimeout, Stopped, ToolcellError, ToolFailed
from ._host import Approver, Function, Hook, HookEvent, Refuse, Revision, SecretSource, Verdict
from ._json import Json
from ._requests import Caller, Isolation, Limits
from ._results import (
    Adopted,
    Analysis,
    CallResult,
    Created,
    Decision,
    Deleted,
    Explanation,
    Finding,
    Hit,
    Image,
    LogLine,
    Parameter,
    Proof,
    Question,
    Reflection,
    Run,
    Tool,
    ToolDefinition,
    ToolDetails,
    ToolList,
    ValueWarning,
)
from ._toolbox import Toolbox

if TYPE_CHECKING:
    from ._async_toolbox import AsyncRun, AsyncToolbox


def __getattr__(name: str) -> Any:
    # Only programs with an event loop need asyncio, which takes longer to import than the rest.
    if name in ("AsyncRun", "AsyncToolbox"):
        from . import _async_toolbox

        return getattr(_async_toolbox, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Adopted",
    "Analysis",
    "Approver",
    "AsyncRun",
    "AsyncToolbox",
    "CallResult",
    "Caller",
    "Created",
    "Decision",
    "Deleted",
    "Effects",
    "Explanation",
    "Finding",
    "Function",
    "Hit",
    "Hook",
    "HookEvent",
    "Image",
    "Isolation",
    "Json",
    "Limits",
    "LogLine",
    "Parameter",
    "Proof",
    "Question",
    "Reflection",
    "Refuse",
    "Refused",
    "Revision",
    "Run",
    "RunTimeout",
    "SecretSource",
    "Stopped",
    "Tool",
    "ToolDefinition",
    "ToolDetails",
    "ToolFailed",
    "ToolList",
    "Toolbox",
    "ToolcellError",
    "ValueWarning",
    "Verdict",
]
