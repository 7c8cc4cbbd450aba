"""Functions, hooks and approvers of the host: what tools and the toolbox call back."""

from __future__ import annotations

import contextvars
import functools
import json
import math
import typing
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from ._json import check_text, encode
from ._lazy import LazyModule

if TYPE_CHECKING:
    import inspect
    import logging

    from . import _hooks, _results, _suspend
    from ._hooks import Hook, Refuse
    from ._results import Question
    from ._suspend import HeldEffect
else:
    inspect, logging = LazyModule("inspect"), LazyModule("logging")
    _hooks, _results, _suspend = (LazyModule(f"toolcell.{name}") for name in ("_hooks", "_results", "_suspend"))


class Waiting:
    """A run that waits for what it calls, which may run tools itself. ``caller`` waits for this run."""

    __slots__ = ("caller", "has_ended")

    def __init__(self) -> None:
        self.caller: Waiting | None = _not_ended(_WAITING.get())
        self.has_ended = False


_WAITING: contextvars.ContextVar[Waiting | None] = contextvars.ContextVar("toolcell_waiting", default=None)


def _not_ended(run: Waiting | None) -> Waiting | None:
    """Returns the innermost run that still waits: what a callback has started may go on after it."""
    while run is not None and run.has_ended:
        run = run.caller
    if run is not None:
        run.caller = _not_ended(run.caller)
    return run


def depth() -> int:
    """Returns how many runs wait for what is going on here."""
    count, run = 0, _not_ended(_WAITING.get())
    while run is not None:
        count, run = count + 1, run.caller
    return count


_Answer = Union[bool, None, "Refuse"]
Approver = Callable[["Question"], Union[_Answer, Awaitable[_Answer]]]
EffectDecision = Union[bool, None]
"""``True``: the effect is performed. ``False``: it is not. ``None``: not now; a run that may be suspended is suspended."""
_Decisions = Union[EffectDecision, Sequence[EffectDecision]]
EffectApprover = Callable[[Sequence["HeldEffect"]], Union[_Decisions, Awaitable[_Decisions]]]
"""Decides about effects that are held together: one answer for all of them, or one for each."""
SecretSource = Union[Mapping[str, str], Callable[[str], Union[str, None]]]


class Deferred:
    """What a function returns that answers later.

    The run is suspended, if it is one of :meth:`Toolbox.run_suspendable`; ``ticket`` is the key of the
    answer in :meth:`Toolbox.resume`. In other runs the call of the function fails.
    """

    __slots__ = ("ticket",)

    def __init__(self, ticket: str) -> None:
        if not check_text(ticket, "ticket"):
            raise ValueError("ticket is empty, it must name the answer")
        self.ticket = ticket

    def __repr__(self) -> str:
        return f"Deferred({self.ticket!r})"


class Function:
    """A function that tools may call with ``tools.call(name, parameters)``.

    It is called with keyword arguments. Its parameters are declared by its signature, or by
    ``parameters`` (as a tool declares them, or a JSON Schema), and its result by ``result`` (a JSON
    Schema). ``read_only`` says that it changes nothing; ``timeout`` is in seconds, for functions of an
    :class:`AsyncToolbox`.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        *,
        parameters: Mapping[str, Any] | None = None,
        result: Mapping[str, Any] | None = None,
        read_only: bool = False,
        timeout: float | None = None,
    ) -> None:
        if not callable(call):
            raise TypeError(f"a function is a {type(call).__name__}, it must be callable")
        self.call = call
        self.result = result
        self.read_only = read_only
        self.timeout = check_timeout(timeout, "the timeout of a function")
        self._models: dict[str, Any] = {}
        self.parameters = parameters if parameters is not None else self._declared()

    @property
    def is_async(self) -> bool:
        """Whether it is a coroutine function."""
        return inspect.iscoroutinefunction(self.call)

    def _declared(self) -> dict[str, Any] | None:
        """Returns the JSON Schema of the signature; ``None`` for any object, where there is no signature."""
        try:
            signature = inspect.signature(self.call)
        except (TypeError, ValueError):
            # Some functions of extension modules have none.
            return None
        try:
            hints = typing.get_type_hints(_annotated(self.call), include_extras=True)
        except Exception as error:
            raise TypeError(f"the annotations of {self.call!r} cannot be read ({error}): say Function(…, parameters=…)") from error
        properties: dict[str, Any] = {}
        required: list[str] = []
        definitions: dict[str, Any] = {}
        is_open = False
        for name, parameter in signature.parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                is_open = True
                continue
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
                raise TypeError(f"the parameter `{name}` of a function is positional, but tools call it by name")
            schema, model = _schema_of(hints.get(name, Any), name)
            if model is not None:
                self._models[name] = model
            definitions.update(schema.pop("$defs", {}))
            properties[name] = schema
            if parameter.default is parameter.empty:
                required.append(name)
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": is_open}
        return {**schema, "$defs": definitions} if definitions else schema

    def invoke(self, params: dict[str, Any]) -> Any:
        """Calls it with the parameters of a tool."""
        for name, model in self._models.items():
            if name in params:
                params[name] = model.validate_json(encode(params[name], name))
        return self.call(**params)

    def declaration(self, name: str, *, inline: bool) -> dict[str, Any]:
        """Returns what the native module is told of it."""
        declared = {"name": name, "readOnly": self.read_only, "inline": inline}
        declared.update({"parameters": self.parameters} if self.parameters is not None else {})
        declared.update({"result": self.result} if self.result is not None else {})
        declared.update({"timeoutMs": max(1, round(self.timeout * 1000))} if self.timeout is not None else {})
        return declared


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _annotated(call: Any) -> Any:
    """Returns what has the annotations of a callable."""
    while isinstance(call, functools.partial):
        call = call.func
    is_object = not (inspect.isroutine(call) or inspect.isclass(call))
    return type(call).__call__ if is_object else call


def _schema_of(hint: Any, name: str) -> tuple[dict[str, Any], Any]:
    """Returns the JSON Schema of the type of a parameter, and what validates it where plain JSON is not enough."""
    if hint is Any or hint is inspect.Parameter.empty:
        return {}, None
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}, None
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": list(args)}, None
    if hint in (list, tuple) or (origin in (list, Sequence) and _is_plain(args)):
        item = _schema_of(args[0], name)[0] if args else {}
        return ({"type": "array", "items": item} if item else {"type": "array"}), None
    if hint is dict or (origin in (dict, Mapping) and _is_plain(args)):
        item = _schema_of(args[1], name)[0] if args else {}
        return ({"type": "object", "additionalProperties": item} if item else {"type": "object"}), None
    if str(origin) in ("typing.Union", "<class 'types.UnionType'>") and _is_plain(args):
        return {"anyOf": [_schema_of(one, name)[0] for one in args]}, None
    try:
        from pydantic import TypeAdapter
    except ImportError:
        # What is no plain type is left to the function.
        return _schema_of(args[0], name) if origin is Annotated else ({}, None)
    adapter: Any = TypeAdapter(hint)
    # Two parameters may have models of one name.
    schema = dict(adapter.json_schema(ref_template=f"#/$defs/{name}.{{model}}"))
    definitions = {f"{name}.{model}": one for model, one in schema.pop("$defs", {}).items()}
    return {**schema, **({"$defs": definitions} if definitions else {})}, adapter


def _is_plain(args: tuple[Any, ...]) -> bool:
    return all(
        arg is Any or arg in _PLAIN or typing.get_origin(arg) is Literal or _is_plain(typing.get_args(arg)) and typing.get_args(arg)
        for arg in args
    )


def to_functions(functions: Mapping[str, Callable[..., Any] | Function] | None, name: str) -> dict[str, Function]:
    """Checks functions in a dictionary."""
    if functions is None:
        return {}
    if not isinstance(functions, Mapping):
        raise TypeError(f"{name} is a {type(functions).__name__}, it must be a dict of functions by name")
    checked: dict[str, Function] = {}
    for key, function in functions.items():
        if isinstance(function, Function):
            checked[key] = function
        elif callable(function):
            try:
                checked[key] = Function(function)
            except TypeError as error:
                raise TypeError(f"{name}[{key!r}]: {error}") from error
        else:
            raise TypeError(f"{name}[{key!r}] is a {type(function).__name__}, it must be callable")
    return checked


class HostState:
    """The host's side of a toolbox: hooks, approver and secrets."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any] | Function] | None,
        hooks: Sequence[Hook],
        approver: Approver | None,
        secrets: SecretSource | None,
    ) -> None:
        self.functions = to_functions(functions, "functions")
        self.hooks: dict[str, Hook] = {}
        if not isinstance(hooks, Sequence):
            raise TypeError(f"hooks is a {type(hooks).__name__}, it must be a list of Hook")
        if approver is not None and not callable(approver):
            raise TypeError(f"approver is a {type(approver).__name__}, it must be callable")
        if secrets is not None and not isinstance(secrets, Mapping) and not callable(secrets):
            raise TypeError(f"secrets is a {type(secrets).__name__}, it must be a dict of str, or callable")
        for hook in hooks:
            if not isinstance(hook, _hooks.Hook):
                raise TypeError(f"hooks has a {type(hook).__name__}, each must be a Hook")
            if hook.name in self.hooks:
                raise ValueError(f"two hooks are named {hook.name!r}")
            self.hooks[hook.name] = hook
        self.approver = approver
        self.secrets = secrets

    def options(self, *, inline: bool) -> dict[str, Any]:
        """Returns what the native module is told."""
        return {
            "functions": [one.declaration(name, inline=inline) for name, one in self.functions.items()],
            "hooks": [
                {
                    "name": hook.name,
                    "tools": list(hook.tools),
                    "timeoutMs": max(1, round(hook.timeout * 1000)),
                    "before": hook.before is not None,
                    "after": hook.after is not None,
                }
                for hook in self.hooks.values()
            ],
            "hasApprover": self.approver is not None,
            "hasSecrets": self.secrets is not None,
        }


class Cancelled(RuntimeError):
    """The run ended before there was an answer."""


Wait = Callable[[Any, "float | None", str], Any]


class RunHost:
    """Serves what the toolbox, or one run, calls back.

    ``wait`` turns an awaitable into its value; ``errors`` are the last ones that functions of this run
    raised. ``context`` has the context variables of the caller; a toolbox itself has none.
    """

    def __init__(
        self,
        state: HostState,
        functions: dict[str, Function],
        wait: Wait,
        context: contextvars.Context | None = None,
        effect_approver: EffectApprover | None = None,
    ) -> None:
        self._state = state
        self._functions = functions
        self._wait = wait
        self._context = context if context is not None else contextvars.Context()
        self._effect_approver = effect_approver
        self.waiting = Waiting()
        self.errors: deque[BaseException] = deque(maxlen=8)
        self.interrupt: BaseException | None = None
        self.on_interrupt: Callable[[], None] = lambda: None
        # What the effect approver raised: the run goes on without its effects, and then the caller gets it.
        self._raised: Exception | None = None

    def __call__(self, kind: str, name: str, payload: str, timeout: float | None) -> str:
        if self.interrupt is not None:
            raise RuntimeError("the run was interrupted")
        if kind == "effects" and self._raised is not None:
            raise RuntimeError("the effect approver has failed")
        try:
            # A copy, because several callbacks of a run may go on at once.
            return self._context.copy().run(self._serve, kind, name, json.loads(payload), timeout)
        except Exception as error:
            if kind == "function":
                self.errors.append(error)
            elif kind == "effects" and not isinstance(error, Cancelled):
                self._raised = error
            logging.getLogger("toolcell").debug("the %s `%s` failed", kind, name, exc_info=True)
            raise RuntimeError(message_of(error)) from None
        except BaseException as error:
            # Such as Ctrl-C: it is for the caller of the run, not for the tool.
            self.interrupt = error
            self.on_interrupt()
            raise

    def raise_for_caller(self) -> None:
        """Raises what was for the caller."""
        interrupt, self.interrupt = self.interrupt, None
        if interrupt is not None:
            raise interrupt
        if self._raised is not None:
            raise self._raised

    def cause_of(self, message: str) -> BaseException | None:
        """Returns what a function raised, if that is what the tool failed with."""
        return next((error for error in reversed(self.errors) if message_of(error) in message), None)

    def _serve(self, kind: str, name: str, payload: Any, timeout: float | None) -> str:
        _WAITING.set(self.waiting)
        return self._answer(kind, name, payload, timeout)

    def _answer(self, kind: str, name: str, payload: Any, timeout: float | None) -> str:
        if kind == "function":
            result = self._wait(self._functions[name].invoke(payload), timeout, f"the function `{name}`")
            if isinstance(result, Deferred):
                return encode({"ticket": result.ticket}, "the ticket")
            return f'{{"value":{encode(result, f"the result of `{name}`")}}}'
        if kind in ("before", "after"):
            hook = self._state.hooks[name]
            call = hook.before if kind == "before" else hook.after
            assert call is not None
            return encode(self._wait(call(payload), timeout, f"the hook `{name}`"), f"the answer of the hook `{name}`")
        if kind == "approve":
            assert self._state.approver is not None
            question = _results.from_json(_results.Question, payload)
            return encode(_answer(self._wait(self._state.approver(question), timeout, "the approver")), "the answer")
        if kind == "effects":
            assert self._effect_approver is not None
            held = [_suspend.to_held_effect(effect) for effect in payload]
            answer = self._wait(self._effect_approver(held), timeout, "the effect approver")
            return encode(_decisions(answer, len(held)), "the decisions")
        if kind == "secret":
            secrets = self._state.secrets
            assert secrets is not None
            secret = secrets(name) if callable(secrets) else secrets.get(name)
            if secret is not None and not isinstance(secret, str):
                raise TypeError(f"the secret `{name}` is a {type(secret).__name__}, it must be a str")
            return encode(secret, f"the secret `{name}`")
        raise ValueError(f"there is no callback `{kind}`")


def message_of(error: BaseException) -> str:
    """Returns the type and the text of an exception, as a tool reads it."""
    try:
        text = str(error)
    except Exception:
        text = "(it has no text)"
    return f"{type(error).__name__}: {text}"


def check_timeout(timeout: float | None, name: str) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
        raise ValueError(f"{name} is {timeout!r}, it must be a number of seconds above 0")
    return timeout


def _answer(answer: object) -> dict[str, str]:
    if answer is True:
        return {"answer": "approve"}
    if answer is False:
        return {"answer": "refuse"}
    if answer is None:
        return {"answer": "defer"}
    if isinstance(answer, _hooks.Refuse):
        return {"answer": "refuse", "feedback": answer.feedback}
    raise TypeError(f"an approver returned a {type(answer).__name__}, it must be True, False, None or Refuse")


def _decisions(answer: object, count: int) -> list[str]:
    """Returns the decision about each of the effects that are held together."""
    if isinstance(answer, (str, bytes)) or not isinstance(answer, Sequence):
        return [_decision(answer, "", "True, False, None or a list of them")] * count
    if len(answer) != count:
        raise TypeError(f"an effect approver returned {len(answer)} decisions about {count} held effects")
    return [_decision(one, f" at [{index}]", "True, False or None") for index, one in enumerate(answer)]


def _decision(decision: object, place: str, expected: str) -> str:
    # By identity, because 1 is equal to True.
    for known, name in ((True, "perform"), (False, "refuse"), (None, "defer")):
        if decision is known:
            return name
    raise TypeError(f"an effect approver returned a {type(decision).__name__}{place}, it must be {expected}")
