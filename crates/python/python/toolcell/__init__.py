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
from ._host import Approver, Deferred, EffectApprover, EffectDecision, Function, SecretSource
from ._json import Json
from ._requests import Caller, Isolation, Limits
from ._run import Run
from ._toolbox import Toolbox

if TYPE_CHECKING:
    from ._async_toolbox import AsyncRun, AsyncSuspendableRun, AsyncToolbox
    from ._hooks import Hook, HookEvent, Refuse, Revision, Verdict
    from ._profile import FuelModel, FunctionFuel, LineFuel, Profile, StackFuel, Unattributed
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
        Replay,
        ReplayDifference,
        Tool,
        ToolDefinition,
        ToolDetails,
        ToolList,
        ValueWarning,
    )
    from ._suspend import CallbackTicket, HeldEffect, SuspendedRun, SuspendedRunInfo

# What takes longer to import than the rest, and is not needed to run code: asyncio, and data classes.
_LAZY = {
    "_async_toolbox": "AsyncRun AsyncSuspendableRun AsyncToolbox",
    "_hooks": "Hook HookEvent Refuse Revision Verdict",
    "_profile": "FuelModel FunctionFuel LineFuel Profile StackFuel Unattributed",
    "_results": "Adopted Analysis CallResult Created Decision Deleted Explanation Finding Hit Image LogLine Parameter Proof"
    " Question Reflection Replay ReplayDifference Tool ToolDefinition ToolDetails ToolList ValueWarning",
    "_suspend": "CallbackTicket HeldEffect SuspendedRun SuspendedRunInfo",
}
_MODULES = {name: module for module, names in _LAZY.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Adopted",
    "Analysis",
    "Approver",
    "AsyncRun",
    "AsyncSuspendableRun",
    "AsyncToolbox",
    "CallResult",
    "CallbackTicket",
    "Caller",
    "Created",
    "Decision",
    "Deferred",
    "Deleted",
    "EffectApprover",
    "EffectDecision",
    "Effects",
    "Explanation",
    "Finding",
    "FuelModel",
    "Function",
    "FunctionFuel",
    "HeldEffect",
    "Hit",
    "Hook",
    "HookEvent",
    "Image",
    "Isolation",
    "Json",
    "Limits",
    "LineFuel",
    "LogLine",
    "Parameter",
    "Profile",
    "Proof",
    "Question",
    "Reflection",
    "Refuse",
    "Refused",
    "Replay",
    "ReplayDifference",
    "Revision",
    "Run",
    "RunTimeout",
    "SecretSource",
    "StackFuel",
    "Stopped",
    "SuspendedRun",
    "SuspendedRunInfo",
    "Tool",
    "ToolDefinition",
    "ToolDetails",
    "ToolFailed",
    "ToolList",
    "Toolbox",
    "ToolcellError",
    "Unattributed",
    "ValueWarning",
    "Verdict",
]
