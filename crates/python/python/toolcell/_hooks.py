"""Hooks: what decides about calls before they run, and revises their results."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypedDict, Union

from ._host import check_timeout
from ._json import Json, check_texts


class HookEvent(TypedDict, total=False):
    """The call that a hook decides about: the keys of Toolcell's hooks, which are those of GitHub Copilot's and some more."""

    hookEventName: Literal["preToolUse", "postToolUse"]
    toolName: str
    toolId: str
    toolArgs: Json
    timestamp: int
    cwd: str
    external: bool
    sessionId: str
    agentId: str
    toolCallId: str
    toolResult: dict[str, Json]


class Verdict(TypedDict, total=False):
    """What a hook says before a run; ``None`` is no objection."""

    permissionDecision: Literal["allow", "deny", "ask"]
    permissionDecisionReason: str
    modifiedArgs: dict[str, Json]
    additionalContext: str
    suppressOutput: bool


class Revision(TypedDict, total=False):
    """What a hook says after a run; ``None`` is no change."""

    modifiedResult: Json
    error: str
    additionalContext: str
    suppressOutput: bool


@dataclasses.dataclass(frozen=True)
class Refuse:
    """An approver's no, with what the caller may do instead."""

    feedback: str


@dataclasses.dataclass(frozen=True)
class Hook:
    """A hook: it decides about calls before they run, and may revise their results.

    ``tools`` restricts it to names, or ``prefix*``. A hook that raises, hangs longer than ``timeout``
    seconds or answers nonsense denies; after a run it withholds the result.
    """

    name: str
    before: Callable[[HookEvent], Union[Verdict, None, Awaitable[Union[Verdict, None]]]] | None = None
    after: Callable[[HookEvent], Union[Revision, None, Awaitable[Union[Revision, None]]]] | None = None
    tools: Sequence[str] = ()
    timeout: float = 5.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"the name of a hook is {self.name!r}, it must be a str that is not empty")
        # A str is a sequence of names of one letter each, of which no tool has one.
        check_texts(self.tools, f"the tools of the hook {self.name!r}")
        for phase in (self.before, self.after):
            if phase is not None and not callable(phase):
                raise TypeError(f"the hook {self.name!r} has a {type(phase).__name__}, it must be callable")
        check_timeout(self.timeout, f"the timeout of the hook {self.name!r}")
