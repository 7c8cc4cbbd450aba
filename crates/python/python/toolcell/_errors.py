"""The errors. Each has a stable code, which the documentation explains."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ._run import Run

Effects = Literal["none", "started", "committed"]


class ToolcellError(Exception):
    """An error of Toolcell.

    ``code`` is stable, ``hint`` says what to do next, and ``effects`` how far the world was changed
    all the same: ``none``, ``started`` or ``committed``.
    """

    def __init__(self, message: str, *, code: str, hint: str = "", effects: Effects = "none") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.effects: Effects = effects

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        known = {"code": self.code, "hint": self.hint, "effects": self.effects}
        return _restore, (type(self), self.message, known, dict(self.__dict__))


def _restore(kind: type[ToolcellError], message: str, known: dict[str, Any], state: dict[str, Any]) -> ToolcellError:
    error = kind(message, **known)
    error.__dict__.update(state)
    return error


class ToolFailed(ToolcellError):
    """The tool threw. ``name``, ``line``, ``column`` and ``stack`` are those of its source, as the tool wrote them."""

    name: str
    line: int | None
    column: int | None
    stack: str
    run: Run[None]


class Stopped(ToolcellError):
    """A limit or a cancellation ended the run; ``code`` says which (``out-of-fuel``, ``timeout``, …)."""

    run: Run[None]


class RunTimeout(Stopped, TimeoutError):
    """The run reached its deadline."""


class Refused(ToolcellError):
    """Nothing ran: the request, the analysis, the policy, a hook or a person is against it.

    ``decided_by`` names what denied the call, and ``awaits_approval`` says whether an approval would
    admit the same call.
    """

    decided_by: str | None = None
    awaits_approval: bool = False


def error_from_json(text: str, run: Run[None] | None = None) -> ToolcellError:
    """Returns the exception for an error of the native module."""
    data: dict[str, Any] = json.loads(text)
    kind, code = data["kind"], data["code"]
    thrown = data.get("thrown")
    known: dict[str, Any] = {"code": code, "hint": data["hint"], "effects": data["effects"]}
    if kind == "failed" and thrown is not None and run is not None:
        failed = ToolFailed(data["message"], **known)
        failed.name, failed.line, failed.column = thrown["name"], thrown["line"], thrown["column"]
        failed.stack, failed.run = thrown["stack"], run
        return failed
    if kind == "stopped" and run is not None:
        stopped = (RunTimeout if code == "timeout" else Stopped)(data["message"], **known)
        stopped.run = run
        return stopped
    refused = Refused(data["message"], **known)
    refused.decided_by = data.get("decidedBy")
    refused.awaits_approval = data.get("awaitsApproval", False)
    return refused
