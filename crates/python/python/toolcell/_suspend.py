"""Side effects that are held until somebody decides, and runs that are suspended until then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Union

from ._json import Json
from ._results import from_json

_Body = Union[str, bytes, None]


@dataclass(frozen=True)
class HeldEffect:
    """A side effect that a tool is about to have.

    ``kind`` is ``fetch``, ``kv.commit``, …; ``about`` is its target, and ``details`` are all that the tool
    passed. ``body`` is the data that it carries: ``bytes``, unless it is text. ``digest`` identifies the
    effect: a run with the same plan has the same digests.
    """

    tool_name: str
    tool_id: str
    position: int
    kind: str
    about: str
    details: Json
    bytes: int
    digest: str
    display: str
    """One line for a person: what kind of effect, and on what. What a tool has written in it is escaped."""
    body: _Body = None

    def __str__(self) -> str:
        return self.display


@dataclass(frozen=True)
class CallbackTicket:
    """A call of a function that answers later; ``ticket`` is the key of its answer."""

    function: str
    ticket: str


@dataclass(frozen=True)
class SuspendedRun:
    """A run that was just suspended: :meth:`Toolbox.resume` resumes it, at most once.

    It waits for a decision about the effects in ``held``, and for the answers of the functions in
    ``tickets``. ``bytes`` is its size in the store, and ``record`` the hash of its record so far.
    """

    run: str
    tool_id: str
    tool_name: str
    held: Sequence[HeldEffect]
    tickets: Sequence[CallbackTicket]
    bytes: int
    record: str | None = None


@dataclass(frozen=True)
class SuspendedRunInfo:
    """A suspended run, as the store lists it. Only its ``caller`` may resume it."""

    run: str
    tool_id: str
    tool_name: str
    caller: str
    since: datetime
    bytes: int


def to_held_effect(data: dict[str, Any]) -> HeldEffect:
    """Returns the effect of a JSON object."""
    return from_json(HeldEffect, {**data, "body": _to_body(data.get("body"))})


def _to_body(body: dict[str, str] | None) -> _Body:
    if body is None:
        return None
    if "text" in body:
        return body["text"]
    import base64

    return base64.b64decode(body["base64"])


def to_suspended_run(text: str) -> SuspendedRun:
    """Returns the suspended run of a JSON text."""
    data: dict[str, Any] = json.loads(text)
    held = [to_held_effect(effect) for effect in data["held"]]
    tickets = [from_json(CallbackTicket, ticket) for ticket in data["tickets"]]
    return from_json(SuspendedRun, {**data, "held": held, "tickets": tickets})


def to_suspended_run_infos(answer: dict[str, Any]) -> list[SuspendedRunInfo]:
    """Returns the suspended runs of a list."""
    return [from_json(SuspendedRunInfo, {**run, "since": _to_datetime(run["since"])}) for run in answer["runs"]]


def _to_datetime(text: str) -> datetime:
    """Returns an instant of RFC 3339 in UTC, which Python before 3.11 cannot parse."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    microsecond = int(fraction[:6].ljust(6, "0"))
    return datetime.fromisoformat(whole).replace(microsecond=microsecond, tzinfo=timezone.utc)
