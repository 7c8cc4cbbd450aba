"""What both toolboxes share: options, requests, and what becomes of the answers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._errors import Refused, error_from_json
from ._host import EffectApprover, Function, HostState, check_timeout, depth, message_of, to_functions
from ._json import check_text, check_texts, encode, encode_object, encode_unicode
from ._lazy import LazyModule
from ._run import Run

if TYPE_CHECKING:
    from . import _native, _results, _suspend
    from ._results import Adopted, CallResult, Decision, Explanation, Hit, Proof, Question, Reflection, Tool, ToolList
    from ._suspend import SuspendedRun, SuspendedRunInfo
else:
    _results, _suspend = LazyModule("toolcell._results"), LazyModule("toolcell._suspend")

Isolation = Literal["worker", "process"]
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "toolcell-worker")


class Limits(TypedDict, total=False):
    """The limits of a call. What is not said is the policy's; what is above the policy's ``[ceilings]`` is refused.

    ``timeout`` is in seconds, ``memory_mb`` in MiB.
    """

    fuel: int
    timeout: float
    memory_mb: int
    output_bytes: int
    console_bytes: int


class Caller(TypedDict, total=False):
    """What a caller claims about itself, for records and hooks."""

    session: str
    agent: str
    call: str


def open_options(
    state: HostState,
    *,
    dir: str | os.PathLike[str] | None,
    policy: str | os.PathLike[str] | None,
    isolation: Isolation,
    slots: int | None,
    cwd: str | os.PathLike[str] | None,
    lang: str,
    inline: bool,
) -> str:
    """Returns the options of a session."""
    options: dict[str, Any] = {"caller": "python", "lang": lang, **state.options(inline=inline)}
    if dir is not None:
        if not isinstance(dir, (str, os.PathLike)):
            raise TypeError(f"dir is {dir!r}, it must be the path of a folder")
        options["dir"] = os.fspath(dir)
        _check_is_for_store(options["dir"])
    if cwd is not None:
        options["cwd"] = os.fspath(cwd)
    if slots is not None:
        if isinstance(slots, bool) or not isinstance(slots, int) or slots < 1:
            raise ValueError(f"slots is {slots!r}, it must be an int above 0")
        options["slots"] = slots
    if isinstance(policy, str) and policy and "\n" not in policy and "=" not in policy and "[" not in policy:
        raise ValueError(f"policy is {policy!r}, which is not TOML: for a file, pass a pathlib.Path")
    if isinstance(policy, str):
        options["policy"] = {"text": policy}
    elif policy is not None:
        with open(policy, encoding="utf-8") as file:
            options["policy"] = {"path": os.fspath(policy), "text": file.read()}
    if isolation == "worker":
        if not os.path.exists(_WORKER):
            raise RuntimeError(f'{_WORKER} is missing: install the package again, or say isolation="process"')
        options["worker"] = _WORKER
    elif isolation != "process":
        raise ValueError(f'isolation is {isolation!r}, it must be "worker" or "process"')
    return encode(options, "the options")


# What is in the folder of each store, also of one whose creation was interrupted.
_STORE_FILES = ("toolcell-store", "lock", "index.sqlite", "objects")


def _check_is_for_store(folder: str) -> None:
    """Refuses to make a store between other files: in a folder that is neither new, empty, hidden nor a store."""
    name = os.path.basename(os.path.normpath(folder))
    if not os.path.isdir(folder) or (name.startswith(".") and name != "."):
        return
    files = os.listdir(folder)
    if files and not any(name in files for name in _STORE_FILES):
        raise ValueError(f"{folder} is not a store, and has other files in it: name a new or an empty folder")


_LIMITS = {"fuel": "fuel", "memory_mb": "memoryMb", "output_bytes": "outputBytes", "console_bytes": "consoleBytes"}


def _limits(limits: Limits) -> dict[str, Any]:
    if not isinstance(limits, Mapping):
        raise TypeError(f"limits is a {type(limits).__name__}, it must be a dict")
    wire: dict[str, Any] = {}
    for name, value in limits.items():
        if name == "timeout":
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
                raise ValueError(f"limits['timeout'] is {value!r}, it must be a number of seconds above 0")
            wire["timeoutMs"] = max(1, round(value * 1000))
        elif name in _LIMITS:
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
                raise ValueError(f"limits[{name!r}] is {value!r}, it must be an int, 0 or more")
            wire[_LIMITS[name]] = value
        else:
            raise ValueError(f"limits has {name!r}; it may have timeout, {', '.join(_LIMITS)}")
    return wire


def call_options(
    *,
    limits: Limits | None,
    seed: int,
    caller: Caller | None,
    receipt: bool,
    functions: Mapping[str, Any] | None,
    grants: Mapping[str, Any] | None,
    inline: bool,
    approved: Sequence[Question] = (),
    profile: bool = False,
    effect_approver: EffectApprover | None = None,
    labels: Sequence[str] | None = None,
) -> tuple[str, dict[str, Function]]:
    """Returns the options of a run, and the functions that only it may call."""
    nesting = depth()
    is_plain = limits is None and functions is None and caller is None and grants is None and effect_approver is None
    if is_plain and labels is None and not (nesting or approved or seed or receipt or profile):
        return "", {}
    options: dict[str, Any] = {"depth": nesting}
    if limits is not None:
        options["limits"] = _limits(limits)
    if seed:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise ValueError(f"seed is {seed!r}, it must be an int, 0 or more")
        options["seed"] = seed
    if caller is not None:
        options["caller"] = _check_caller(caller)
    if approved:
        if len(approved) > _MAX_APPROVED:
            raise ValueError(f"approved has {len(approved)} questions, a call has at most {_MAX_APPROVED}")
        answered = [_check_question(question).to_json() for question in approved]
        options["approved"] = [{key: question[key] for key in _QUESTION_KEYS} for question in answered]
    if receipt:
        options["receipt"] = True
    if profile:
        options["profile"] = True
    if effect_approver is not None:
        if not callable(effect_approver):
            raise TypeError(f"effect_approver is a {type(effect_approver).__name__}, it must be callable")
        options["hasEffectApprover"] = True
    if grants is not None:
        options["grants"] = grants
    if labels is not None:
        options["labels"] = _check_labels(labels)
    own = to_functions(functions, "functions")
    if own:
        options["functions"] = [one.declaration(name, inline=inline) for name, one in own.items()]
    return encode(options, "the options of the call"), own


_MAX_APPROVED = 16
# What decides whether a question is the one that was answered.
_QUESTION_KEYS = ("askedBy", "text", "toolName", "toolId", "parameters", "digest")


def _check_caller(caller: Caller) -> Caller:
    if not isinstance(caller, Mapping):
        raise TypeError(f"caller is a {type(caller).__name__}, it must be a dict")
    for key, value in caller.items():
        if key not in ("session", "agent", "call"):
            raise ValueError(f"caller has {key!r}; it may have session, agent, call")
        if not isinstance(value, str):
            raise TypeError(f"caller[{key!r}] is a {type(value).__name__}, it must be a str")
    return caller


def _check_labels(labels: Sequence[str]) -> list[str]:
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise TypeError("labels must be a list of str, as Run.labels is")
    return list(labels)


def _check_question(question: object) -> Question:
    if not isinstance(question, _results.Question):
        raise TypeError(f"approved has a {type(question).__name__}, each must be a Question")
    return question


Request = tuple[str, dict[str, Any]]

_WITHOUT_STORE = ("decide", "analyze", "reflect", "replay", "definitions", "questions", "find_tests", "run_test")


def check_has_store(dir: str | os.PathLike[str] | None, operation: str) -> None:
    """Refuses what needs a store in a toolbox that has none."""
    if dir is None and operation not in _WITHOUT_STORE:
        hint = 'open it with a folder: Toolbox("tools")'
        raise Refused(f"this toolbox has no store, which `{operation}` needs", code="store-read-only", hint=hint)


def create_request(
    name: str,
    description: str,
    code: str,
    parameters: Mapping[str, Any] | None,
    returns: Mapping[str, Any] | None,
    capabilities: Mapping[str, Any] | Sequence[str] | None,
    examples: Sequence[Mapping[str, Any]],
    tags: Sequence[str],
    generated_from: str | None,
    replace: bool,
) -> Request:
    request: dict[str, Any] = {"name": name, "description": description, "code": code, "replace": replace}
    optional = {"parameters": parameters, "returns": returns, "capabilities": capabilities, "generated_from": generated_from}
    request.update({key: value for key, value in optional.items() if value is not None})
    return "create", {**request, "examples": list(examples), "tags": check_texts(tags, "tags")}


def list_request(
    name: str | None, tags: Sequence[str], status: str | None, sort: str | None, limit: int | None, cursor: str | None
) -> Request:
    optional = {"name": name, "status": status, "sort": sort, "limit": limit, "cursor": cursor}
    return "list", {"tags": check_texts(tags, "tags"), **{key: value for key, value in optional.items() if value is not None}}


def reflect_request(
    task: str, last_tool_result: str, failed_attempts: int, history: Sequence[Any]
) -> Request:
    if isinstance(history, str):
        raise TypeError("history is a str, it must be a list")
    request = {"task_description": task, "last_tool_result": last_tool_result}
    return "reflect", {**request, "failed_attempts": failed_attempts, "history": list(history)}


def verify_request(tool: str, cases: int | None, seed: int) -> Request:
    return "verify", {"tool": tool, "seed": seed, **({} if cases is None else {"cases": cases})}


def decide_request(
    tool_name: str,
    tool_args: Mapping[str, Any],
    session: str | None,
    agent: str | None,
    call: str | None,
    cwd: str | os.PathLike[str] | None,
    ask: bool,
) -> Request:
    claims = {"sessionId": session, "agentId": agent, "toolCallId": call, "cwd": None if cwd is None else os.fspath(cwd)}
    event = {"toolName": tool_name, "toolArgs": tool_args, **{key: value for key, value in claims.items() if value is not None}}
    return "decide", {"call": event, "ask": ask}


def resume_request(
    run: str | SuspendedRun | SuspendedRunInfo, answers: Mapping[str, Any] | None
) -> tuple[str, str, list[BaseException]]:
    """Returns the identifier of a suspended run, the answers of its functions as JSON, and the exceptions among them."""
    if not isinstance(run, str):
        if not isinstance(run, (_suspend.SuspendedRun, _suspend.SuspendedRunInfo)):
            raise TypeError(f"run is a {type(run).__name__}, it must be a SuspendedRun or the identifier of one")
        run = run.run
    answers = {} if answers is None else answers
    if not isinstance(answers, Mapping):
        raise TypeError(f"answers is a {type(answers).__name__}, it must be a dict")
    wire: list[str] = []
    failures: list[BaseException] = []
    for ticket, answer in answers.items():
        if not isinstance(ticket, str):
            raise TypeError(f"answers has the key {ticket!r}, which is a {type(ticket).__name__}, not a str")
        kind, name = "value", f"answers[{ticket!r}]"
        if isinstance(answer, BaseException):
            failures.append(answer)
            kind, answer = "error", message_of(answer).encode(errors="replace").decode()
        wire.append(f'{encode_unicode(ticket, name)}:{{"{kind}":{encode_unicode(answer, name)}}}')
    return check_text(run, "run"), "{" + ",".join(wire) + "}", failures


def replay_request(receipt: str, any_version: bool) -> Request:
    if not isinstance(any_version, bool):
        raise TypeError(f"any_version is a {type(any_version).__name__}, it must be a bool")
    return "replay", {"receipt": check_text(receipt, "receipt"), "anyVersion": any_version}


_POLL_INTERVAL = 0.5


class ChangePoll:
    """Decides when :meth:`Toolbox.changes` looks at the store, and when it ends. ``timeout`` is in seconds."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = check_timeout(timeout, "timeout")
        self._known: str | None = None
        self._since = 0.0

    def wait_anew(self) -> None:
        """Starts the time without a change."""
        self._since = time.monotonic()

    def pause(self) -> float | None:
        """Returns the seconds until the next look; ``None`` if the time without a change is over."""
        if self._timeout is None:
            return _POLL_INTERVAL
        left = self._since + self._timeout - time.monotonic()
        return min(_POLL_INTERVAL, left) if left > 0 else None

    def has_changed(self, answer: dict[str, Any]) -> bool:
        """Returns whether the store has changed since the last look. The first one is the base line."""
        known, self._known = self._known, answer["generation"]
        return known not in (None, self._known)


def approve_request(tool: str | Question, by: str) -> Request:
    if isinstance(tool, _results.Question):
        if tool.tool_id is None or tool.digest is None:
            raise ValueError("this question is about a call, not about a stored tool: answer it in the approver")
        return "approve", {"tool": tool.tool_id, "by": by, "digest": tool.digest}
    return "approve", {"tool": tool, "by": by}


def definitions_request(operations: Sequence[str] | None, published: int) -> Request:
    if isinstance(published, bool) or not isinstance(published, int) or published < 0:
        raise ValueError(f"published is {published!r}, it must be an int, 0 or more")
    return "definitions", {"operations": None if operations is None else check_texts(operations, "operations"), "published": published}


def questions_request(name: str, args: Mapping[str, Any] | None, caller: Caller | None) -> Request:
    claims = {} if caller is None else {"caller": _check_caller(caller)}
    return "questions", {"name": name, "arguments": encode_object(args, "args"), **claims}


def to_call_result(answer: str, native: _native.Run | None) -> CallResult:
    from base64 import b64decode

    data = json.loads(answer)
    run: Run[Any] | None = None
    if native is not None:
        value = native.value
        run = Run(native, None if value is None else json.loads(value))
    error = data["error"]
    return _results.CallResult(
        text=data["text"],
        is_error=data["isError"],
        structured=data["structured"],
        images=[_results.Image(image["mimeType"], b64decode(image["data"])) for image in data["images"]],
        error=None if error is None else error_from_json(json.dumps(error), run),
        run=run,
    )


def to_adopted(answer: dict[str, Any]) -> list[Adopted]:
    return [
        _results.Adopted(
            name=tool["name"],
            id=tool.get("id"),
            created=tool.get("created", False),
            error=error_from_json(json.dumps(tool["error"])) if "error" in tool else None,
        )
        for tool in answer["tools"]
    ]


def to_list(answer: dict[str, Any]) -> ToolList:
    tools = [_results.from_json(_results.Tool, tool) for tool in answer["tools"]]
    return _results.ToolList(tools=tools, total=answer["total"], cursor=answer["cursor"], text=answer["text"])


def to_hits(answer: dict[str, Any]) -> list[Hit]:
    tools = answer["tools"]
    return [_results.Hit(tool=_results.from_json(_results.Tool, tool), coverage=tool["coverage"]) for tool in tools]


def to_tools(answer: dict[str, Any]) -> list[Tool]:
    return [_results.from_json(_results.Tool, tool) for tool in answer["tools"]]


def to_decision(answer: dict[str, Any]) -> Decision:
    return _results.Decision(
        permission=answer.get("permissionDecision"),
        decided_by=answer["decidedBy"],
        reason=answer.get("permissionDecisionReason"),
        modified_args=answer.get("modifiedArgs"),
        context=answer.get("additionalContext"),
        suppress_output=answer.get("suppressOutput", False),
    )


def to_explanation(answer: dict[str, Any]) -> Explanation:
    error = answer["error"]
    return _results.Explanation(
        admitted=answer["admitted"],
        asks=answer["asks"],
        steps=answer["steps"],
        error=None if error is None else error_from_json(json.dumps(error)),
    )


def to_reflection(answer: dict[str, Any]) -> Reflection:
    return _results.from_json(_results.Reflection, answer)


def to_proof(answer: dict[str, Any]) -> Proof:
    return _results.from_json(_results.Proof, answer)
