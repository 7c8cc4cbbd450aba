"""What operations return."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, TypeVar

from ._errors import ToolcellError
from ._json import Json
from ._run import Run

_R = TypeVar("_R")


@dataclass(frozen=True)
class LogLine:
    """A line that a tool wrote to the console."""

    level: Literal["debug", "log", "info", "warn", "error"]
    text: str


@dataclass(frozen=True)
class ValueWarning:
    """A value that could not be represented exactly; ``path`` is a JSON Pointer (RFC 6901)."""

    place: Literal["params", "result"]
    path: str
    message: str


@dataclass(frozen=True)
class Finding:
    """A finding of the analysis. ``rule`` is explained in the documentation."""

    severity: Literal["low", "medium", "high", "critical"]
    rule: str
    description: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    suggestion: str


@dataclass(frozen=True)
class Parameter:
    """A parameter of a tool; ``type`` is ``number``, ``string | null``, ``any``, …"""

    name: str
    type: str
    description: str
    required: bool
    default: Json = None
    enum: Sequence[Json] | None = None


@dataclass(frozen=True)
class Created:
    """A tool that was created."""

    id: str
    name: str
    version: int
    safety_score: float
    quality_score: float
    verification_status: str
    parameters: Sequence[Parameter]
    findings: Sequence[Finding]
    needs_approval: str | None
    """Why the tool needs an approval before it runs; ``None`` if it needs none."""
    text: str

    def _repr_html_(self) -> str:
        """The tool and its findings, for notebooks."""
        from . import _html

        rows = [("name", self.name), ("version", self.version), ("identifier", self.id)]
        rows += [("safety", self.safety_score), ("quality", self.quality_score), ("verification", self.verification_status)]
        rows += [("needs an approval", self.needs_approval)] if self.needs_approval is not None else []
        return _html.table((), rows) + _html.findings_table(self.findings)


@dataclass(frozen=True)
class Adopted:
    """A tool of an adopted file; ``error`` says why it was not stored."""

    name: str
    id: str | None = None
    created: bool = False
    error: Exception | None = None


@dataclass(frozen=True)
class Tool:
    """A stored tool."""

    id: str
    name: str
    description: str
    tags: Sequence[str]
    verification_status: str
    safety_score: float
    quality_score: float
    confidence_score: float
    usage_count: int
    success_count: int
    last_used_at: str | None
    created_at: str
    updated_at: str
    successor: str | None = None


@dataclass(frozen=True)
class ToolDetails(Tool):
    """All about a stored tool. ``approval`` is ``approved``, ``refused``, ``not-required``, ``unapproved`` or ``unsafe``."""

    source: str = ""
    parameters: Sequence[Parameter] = ()
    examples: Sequence[Json] = ()
    grants: Json = None
    approval: str = ""


@dataclass(frozen=True)
class ToolList:
    """A page of tools. ``cursor`` is for the next page; ``None`` on the last one."""

    tools: Sequence[Tool]
    total: int
    cursor: str | None
    text: str


@dataclass(frozen=True)
class Hit:
    """A tool that a search found; ``coverage`` is the share of the query that it matches, 0 to 1."""

    tool: Tool
    coverage: float


@dataclass(frozen=True)
class Deleted:
    """A tool that was deleted; ``toolcell undelete`` restores it."""

    id: str
    name: str
    version: int
    text: str


@dataclass(frozen=True)
class Reflection:
    """Whether a tool is worth making for a task. ``proposal`` are the arguments of ``create``."""

    recommend: bool
    decision: Literal["create", "reuse", "revise", "compose", "none"]
    tools: Sequence[str]
    score: float
    text: str
    trigger: str | None = None
    proposal: Json = None
    proposal_kind: str | None = None


@dataclass(frozen=True)
class Proof:
    """The result of a verification.

    ``type_errors``: what a type checker says about the source, if the policy names one; it does not decide the verdict.
    """

    verdict: Literal["passed", "failed", "unproven"]
    checks: Sequence[Json]
    text: str
    counterexample: Json = None
    type_errors: Sequence[Json] = ()


@dataclass(frozen=True)
class ReplayDifference:
    """A difference between a run and its replay: in ``part``, such as ``outcome`` or ``fuel``."""

    part: str
    message: str


@dataclass(frozen=True)
class Replay:
    """The replay of a run from its receipt.

    ``reproduced``: it came out the same. ``value`` is what the tool returned; ``None`` also for
    ``undefined`` and for a failure. ``signed_by`` is the public key of the signature in hexadecimal,
    and ``signed_here`` says whether it is that of this store.
    """

    reproduced: bool
    tool_id: str
    outcome: Literal["returned", "threw", "stopped"]
    fuel: int
    load_fuel: int
    signed_by: str
    signed_here: bool
    differences: Sequence[ReplayDifference]
    notes: Sequence[str]
    text: str
    value: Json = None


@dataclass(frozen=True)
class Decision:
    """The decision about a call of a tool that Toolcell does not run.

    ``permission`` is ``None`` where neither the policy nor a hook has an opinion.
    """

    permission: Literal["allow", "deny", "ask"] | None
    decided_by: str
    reason: str | None
    modified_args: Json
    context: str | None
    suppress_output: bool

    @property
    def allowed(self) -> bool:
        """Whether the call may go on without asking a person."""
        return self.permission in ("allow", None)


@dataclass(frozen=True)
class Explanation:
    """How a run would be decided: ``asks`` if it would need an approval, ``error`` if it would not run."""

    admitted: bool
    asks: bool
    steps: Sequence[Json]
    error: Exception | None


@dataclass(frozen=True)
class Question:
    """A question for a person: may this tool, or this call, run?

    ``facts`` are to be shown in full. For a tool, ``source``, ``grants`` and ``findings`` belong to
    them, and ``digest`` binds the approval to what was shown.
    """

    asked_by: str
    text: str
    question: str
    facts: Sequence[str]
    tool_name: str
    tool_id: str | None
    parameters: Json
    caller: str | None
    findings: Sequence[Finding]
    grants: Json = None
    missing: Sequence[str] | None = None
    source: str | None = None
    digest: str | None = None
    display: str = ""
    """All that a person needs to answer. What a tool has written in it is escaped."""

    def __str__(self) -> str:
        return self.display

    def to_json(self) -> dict[str, Json]:
        """Returns a JSON object, which another process can turn into the question again."""
        return {re.sub(r"_([a-z])", lambda match: match[1].upper(), key): _to_json(value) for key, value in vars(self).items()}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Question:
        """Returns the question of a JSON object."""
        return from_json(Question, dict(data))


@dataclass(frozen=True)
class Analysis:
    """The analysis of a source."""

    safety_score: float
    quality_score: float
    findings: Sequence[Finding]

    def _repr_html_(self) -> str:
        """The scores and the findings, for notebooks."""
        from . import _html

        scores = _html.table((), [("safety", self.safety_score), ("quality", self.quality_score)])
        return scores + _html.findings_table(self.findings)


@dataclass(frozen=True)
class ToolDefinition:
    """A tool that a model is offered: an operation, or an approved tool (``tool`` is its name then).

    ``read_only``, ``destructive``, ``idempotent`` and ``open_world`` are the hints of the Model Context
    Protocol.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Json]
    output_schema: dict[str, Json]
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    tool: str | None = None


@dataclass(frozen=True)
class Image:
    """An image that a tool returned."""

    mime_type: str
    data: bytes


@dataclass(frozen=True)
class CallResult:
    """The result of a call by a model: ``text`` is what it reads, ``structured`` the same for programs.

    ``error`` is what :meth:`Toolbox.run` would have raised, and ``run`` the run, if the call was one.
    """

    text: str
    is_error: bool
    structured: Json
    images: Sequence[Image]
    error: ToolcellError | None
    run: Run[Any] | None


def _to_json(value: Any) -> Json:
    if isinstance(value, Finding):
        data = {re.sub(r"_([a-z])", lambda match: match[1].upper(), key): item for key, item in vars(value).items()}
        return {("type" if key == "rule" else key): item for key, item in data.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in value]
    return value  # type: ignore[no-any-return]


_NESTED: dict[str, type[Any]] = {"parameters": Parameter, "findings": Finding, "differences": ReplayDifference}


def from_json(kind: type[_R], data: dict[str, Any]) -> _R:
    """Creates a result from a JSON object, whose other keys are ignored."""
    assert is_dataclass(kind)
    snake = {re.sub(r"(?<!^)([A-Z])", r"_\1", key).lower(): value for key, value in data.items()}
    if kind is Finding:
        snake["rule"] = data["type"]
    known = {field.name: snake[field.name] for field in fields(kind) if field.name in snake}
    for name, nested in _NESTED.items():
        if isinstance(known.get(name), list) and not (kind is Question and name == "parameters"):
            known[name] = [from_json(nested, item) for item in known[name]]
    return kind(**known)
