"""Runs that took place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._errors import Effects
from ._lazy import LazyModule

if TYPE_CHECKING:
    from . import _native, _profile, _results
    from ._profile import Profile
    from ._results import LogLine, ValueWarning
else:
    _profile, _results = LazyModule("toolcell._profile"), LazyModule("toolcell._results")

T = TypeVar("T")


class _Snapshot:
    """What is kept of a run in another process: the attributes of the native one."""

    def __init__(self, native: Any) -> None:
        for name in ("value", "failure", "fuel", "load_fuel", "memory_bytes", "duration", "effects", "tool"):
            setattr(self, name, getattr(native, name))
        self._text, self._details = native.text(), native.details()

    def text(self) -> str:
        return str(self._text)

    def details(self) -> str:
        return str(self._details)


class Run(Generic[T]):
    """A run that took place. ``value`` is what the tool returned; ``None`` also for ``undefined``."""

    __slots__ = ("_native", "_details", "value")

    value: T

    def __init__(self, native: _native.Run, value: T) -> None:
        self._native = native
        self._details: dict[str, Any] | None = None
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return Run, (_Snapshot(self._native), self.value)

    @property
    def tool_id(self) -> str | None:
        """The identifier of the tool; ``None`` for code that is not stored."""
        tool = self._native.tool
        return tool[0] if tool else None

    @property
    def tool_name(self) -> str | None:
        """The name of the tool; ``None`` for code that is not stored."""
        tool = self._native.tool
        return tool[1] if tool else None

    @property
    def fuel(self) -> int:
        """The fuel of the call, about one unit per Wasm instruction: the same on every machine."""
        return self._native.fuel

    @property
    def load_fuel(self) -> int:
        """The fuel of loading the source; 0 where it was loaded before."""
        return self._native.load_fuel

    @property
    def memory_bytes(self) -> int:
        """The memory in bytes."""
        return self._native.memory_bytes

    @property
    def duration(self) -> float:
        """The duration in seconds."""
        return self._native.duration

    @property
    def effects(self) -> Effects:
        """How far the run changed the world: ``none``, ``started`` or ``committed``."""
        return self._native.effects  # type: ignore[return-value]  # pyright: ignore[reportReturnType]

    @property
    def text(self) -> str:
        """What a model reads."""
        return self._native.text()

    @property
    def logs(self) -> Sequence[LogLine]:
        """The lines that the tool wrote to the console."""
        return [_results.LogLine(line["level"], line["text"]) for line in self._detail("logs")]

    @property
    def warnings(self) -> Sequence[ValueWarning]:
        """Values that could not be represented exactly."""
        return [_results.ValueWarning(one["place"], one["path"], one["message"]) for one in self._detail("warnings")]

    @property
    def context(self) -> Sequence[tuple[str, str]]:
        """Texts that hooks add for the model: the name of the hook, and the text."""
        return [(one["hook"], one["text"]) for one in self._detail("context")]

    @property
    def suppressed(self) -> bool:
        """Whether a hook keeps the output from the model."""
        return bool(self._detail("suppressed"))

    @property
    def record(self) -> str | None:
        """The hash of the record of the run."""
        return self._detail("record")  # type: ignore[no-any-return]

    @property
    def receipt(self) -> str | None:
        """The receipt, if one was asked for: ``toolcell replay`` re-executes the run from it."""
        return self._detail("receipt")  # type: ignore[no-any-return]

    @property
    def labels(self) -> Sequence[str] | None:
        """The sources of the result, also of a failure, such as ``server:mail.read``; ``None`` without rules about flows."""
        return self._detail("labels")  # type: ignore[no-any-return]

    @property
    def profile(self) -> Profile | None:
        """The fuel profile, if one was asked for."""
        profile = self._detail("profile")
        return None if profile is None else _profile.Profile.from_json(profile)

    def _detail(self, key: str) -> Any:
        details = self._details
        if details is None:
            details = self._details = dict(json.loads(self._native.details()))
        return details.get(key)

    def __repr__(self) -> str:
        value = repr(self.value)
        shown = value if len(value) <= 80 else value[:79] + "…"
        return f"Run(value={shown}, fuel={self.fuel}, duration={self.duration:.6f})"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        import html

        value = json.dumps(self.value, indent=1, ensure_ascii=False, default=repr)
        rows = [("value", value), ("fuel", f"{self.fuel:,}"), ("memory", f"{self.memory_bytes:,} bytes")]
        rows += [("duration", f"{self.duration * 1e3:.3f} ms"), ("effects", self.effects)]
        rows += [("console", "\n".join(line.text for line in self.logs))] if self.logs else []
        cells = (f"<tr><th>{name}</th><td><pre>{html.escape(text)}</pre></td></tr>" for name, text in rows)
        return f"<table>{''.join(cells)}</table>"
