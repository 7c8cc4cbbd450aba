"""Fuel profiles of runs.

Invariant: the fuel of the functions and the fuel outside of them add up to that of the run. A profile
that does not add up is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ._errors import ToolcellError, error_from_json
from ._json import Json, encode

_V = TypeVar("_V", int, str, "list[Any]")

_FORMAT = "toolcell-profile-1"
# What a notebook shows below the flame graph.
_SHOWN_LINES = 10


@dataclass(frozen=True)
class FuelModel:
    """The versions that metered the fuel. Fuel of different models cannot be compared."""

    guest: str
    engine: str


@dataclass(frozen=True)
class Unattributed:
    """Fuel that is charged to no function.

    ``engine`` is that of the engine while no function ran, ``other_tools`` that of tools that were called,
    and ``unattributed`` that after the last sample.
    """

    engine: int
    other_tools: int
    unattributed: int


@dataclass(frozen=True)
class FunctionFuel:
    """Fuel of a function: its ``own``, and the ``total`` with that of the functions that it called.

    ``home`` is ``tool``, ``library`` (functions of Toolcell) or ``engine``. ``line`` is where it starts.
    """

    name: str
    home: str
    line: int | None
    own: int
    total: int


@dataclass(frozen=True)
class LineFuel:
    """Fuel of a line of the tool: its ``own``, and the ``total`` with that of the tool's functions that it called."""

    line: int
    own: int
    total: int
    text: str


@dataclass(frozen=True)
class StackFuel:
    """Fuel of a call stack: frames of a place in ``Profile.functions`` and a line, or 0. The outermost is first."""

    frames: Sequence[tuple[int, int]]
    fuel: int


@dataclass(frozen=True, repr=False)
class Profile:
    """The fuel profile of a run: where its fuel went, by function, by line and by call stack.

    The functions are sorted, the most expensive first. ``fuel`` is that of the same run without a profile;
    ``load_fuel``, that of loading the source, is not part of it. Fuel between two ``samples`` is charged to
    the code that runs at the second one.
    """

    tool: str
    model: FuelModel
    outcome: str
    fuel: int
    load_fuel: int
    samples: int
    outside: Unattributed
    functions: Sequence[FunctionFuel]
    lines: Sequence[LineFuel]
    stacks: Sequence[StackFuel]

    def flame_graph(self) -> str:
        """Returns a picture of the call stacks: an SVG, which a browser can search and zoom."""
        from . import _native

        try:
            return _native.flame_graph(encode(self.to_json(), "the profile"))
        except _native.NativeError as error:
            raise error_from_json(str(error)) from None

    def to_json(self) -> dict[str, Json]:
        """Returns a JSON object: what ``toolcell profile --json`` prints, and ``toolcell profile diff`` compares."""
        outside = self.outside
        return {
            "format": _FORMAT,
            "tool": self.tool,
            "model": {"guest": self.model.guest, "engine": self.model.engine},
            "outcome": self.outcome,
            "fuel": self.fuel,
            "loadFuel": self.load_fuel,
            "samples": self.samples,
            "outside": {
                "engine": outside.engine,
                "otherTools": outside.other_tools,
                "unattributed": outside.unattributed,
            },
            "functions": [dict(vars(function)) for function in self.functions],
            "lines": [dict(vars(line)) for line in self.lines],
            "stacks": [{"frames": [list(one) for one in stack.frames], "fuel": stack.fuel} for stack in self.stacks],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Profile:
        """Returns the profile of a JSON object. What is not a profile is a :class:`ValueError`."""
        if not isinstance(data, Mapping):
            raise TypeError(f"a profile is a {type(data).__name__}, it must be a dict")
        whole = _Reader(data, "")
        form = whole.get("format", str)
        if form != _FORMAT:
            raise ValueError(f"this is not a profile: its format is {form[:40]!r}, not {_FORMAT!r}")
        model, outside = whole.inner("model"), whole.inner("outside")
        profile = Profile(
            tool=whole.get("tool", str),
            model=FuelModel(model.get("guest", str), model.get("engine", str)),
            outcome=whole.get("outcome", str),
            fuel=whole.get("fuel", int),
            load_fuel=whole.get("loadFuel", int),
            samples=whole.get("samples", int),
            outside=Unattributed(outside.get("engine", int), outside.get("otherTools", int), outside.get("unattributed", int)),
            functions=[
                FunctionFuel(
                    name=one.get("name", str),
                    home=one.get("home", str),
                    line=one.get_optional("line", int),
                    own=one.get("own", int),
                    total=one.get("total", int),
                )
                for one in whole.items("functions")
            ],
            lines=[
                LineFuel(one.get("line", int), one.get("own", int), one.get("total", int), one.get("text", str))
                for one in whole.items("lines")
            ],
            stacks=[StackFuel(one.frames(), one.get("fuel", int)) for one in whole.items("stacks")],
        )
        profile._check()
        return profile

    def _check(self) -> None:
        """Checks that it adds up, and that the frames of its stacks are functions."""
        outside = sum(vars(self.outside).values())
        parts = {"functions": sum(one.own for one in self.functions), "stacks": sum(one.fuel for one in self.stacks)}
        for name, fuel in parts.items():
            if fuel + outside != self.fuel:
                raise ValueError(
                    f"this is not a profile: its {name} add up to {fuel + outside:_} fuel, the run burned {self.fuel:_}"
                )
        unknown = (at for stack in self.stacks for at, _ in stack.frames if at >= len(self.functions))
        for at in unknown:
            raise ValueError(f"this is not a profile: a stack has the function {at}, there are {len(self.functions)}")

    def __repr__(self) -> str:
        return f"Profile(tool={self.tool!r}, outcome={self.outcome!r}, fuel={self.fuel}, functions={len(self.functions)})"

    def _repr_html_(self) -> str:
        """The flame graph, and the most expensive lines, for notebooks."""
        from . import _html

        dearest = sorted(self.lines, key=lambda line: line.own, reverse=True)[:_SHOWN_LINES]
        rows = [(one.line, f"{one.own:,}", f"{one.own / max(self.fuel, 1):.1%}", one.text) for one in dearest]
        lines = _html.table(("line", "fuel", "share", "source"), rows)
        try:
            drawn = self.flame_graph()
        except ToolcellError:
            # A tool that does not load burns no fuel.
            return lines
        return _html.frame(drawn, _height_of(drawn)) + lines


def _height_of(drawn: str) -> int:
    """Returns the height of an SVG in pixels."""
    import re

    height = re.search(r'<svg\b[^>]*\sheight="(\d{1,6})', drawn)
    return int(height[1]) + 20 if height else 400


class _Reader:
    """Reads a JSON object, and says what in it is not as it must be."""

    def __init__(self, data: object, path: str) -> None:
        if not isinstance(data, Mapping):
            raise ValueError(f"this is not a profile: {path} is a {type(data).__name__}, it must be a dict")
        self._data: Mapping[str, Any] = data
        self._path = path

    def _place(self, key: str) -> str:
        return f"{self._path}[{key!r}]" if self._path else key

    def get(self, key: str, kind: type[_V]) -> _V:
        """Returns a text, a number that is not negative, or a list."""
        if key not in self._data:
            raise ValueError(f"this is not a profile: it has no {self._place(key)}")
        value: _V = self._data[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"this is not a profile: {self._place(key)} is a {type(value).__name__}, it must be a {kind.__name__}")
        if isinstance(value, int) and value < 0:
            raise ValueError(f"this is not a profile: {self._place(key)} is {value}, it must be 0 or more")
        return value

    def get_optional(self, key: str, kind: type[_V]) -> _V | None:
        """Returns the same, or ``None``."""
        return None if self._data.get(key) is None else self.get(key, kind)

    def inner(self, key: str) -> _Reader:
        """Returns an object in the object."""
        return _Reader(self._data.get(key), self._place(key))

    def items(self, key: str) -> list[_Reader]:
        """Returns the objects of a list."""
        return [_Reader(item, f"{self._place(key)}[{index}]") for index, item in enumerate(self.get(key, list))]

    def frames(self) -> list[tuple[int, int]]:
        """Returns the frames of a stack."""
        frames: list[tuple[int, int]] = []
        for index, frame in enumerate(self.get("frames", list)):
            is_pair = isinstance(frame, (list, tuple)) and len(frame) == 2
            if not is_pair or not all(type(part) is int and part >= 0 for part in frame):
                raise ValueError(f"this is not a profile: {self._place('frames')}[{index}] is not a pair of a function and a line")
            frames.append((frame[0], frame[1]))
        return frames
