"""The native module: it passes JSON."""

from collections.abc import Callable
from typing import Literal, final, overload

_Callback = Callable[[str, str, str, "float | None"], str]

class NativeError(Exception): ...

def flame_graph(profile: str) -> str: ...

@final
class Cancel:
    def __new__(cls, interruptible: bool) -> Cancel: ...
    def cancel(self) -> None: ...

@final
class Run:
    @property
    def value(self) -> str | None: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def fuel(self) -> int: ...
    @property
    def load_fuel(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def duration(self) -> float: ...
    @property
    def effects(self) -> str: ...
    @property
    def tool(self) -> tuple[str, str] | None: ...
    def text(self) -> str: ...
    def details(self) -> str: ...

@final
class Session:
    def __new__(cls, options: str, callback: _Callback) -> Session: ...
    @staticmethod
    def open(
        options: str, callback: _Callback, on_done: Callable[[Session | None, str | None], None]
    ) -> None: ...
    def call(self, operation: str, request: str, callback: _Callback, cancel: Cancel) -> str: ...
    def start_call(
        self,
        operation: str,
        request: str,
        callback: _Callback,
        cancel: Cancel,
        on_done: Callable[[str | None, str | None], None],
    ) -> None: ...
    @overload
    def run(
        self,
        kind: Literal["tool", "code"],
        subject: str,
        params: str,
        options: str,
        callback: _Callback,
        on_update: Callable[[str], None] | None,
        cancel: Cancel,
    ) -> Run: ...
    @overload
    def run(
        self,
        kind: Literal["suspendable", "resume"],
        subject: str,
        params: str,
        options: str,
        callback: _Callback,
        on_update: Callable[[str], None] | None,
        cancel: Cancel,
    ) -> Run | str: ...
    @overload
    def start(
        self,
        kind: Literal["tool", "code"],
        subject: str,
        params: str,
        options: str,
        callback: _Callback,
        on_update: Callable[[str], None] | None,
        cancel: Cancel,
        on_done: Callable[[Run | None, str | None], None],
    ) -> None: ...
    @overload
    def start(
        self,
        kind: Literal["suspendable", "resume"],
        subject: str,
        params: str,
        options: str,
        callback: _Callback,
        on_update: Callable[[str], None] | None,
        cancel: Cancel,
        on_done: Callable[[Run | str | None, str | None], None],
    ) -> None: ...
    def call_tool(
        self,
        name: str,
        arguments: str,
        options: str,
        callback: _Callback,
        on_update: Callable[[str], None] | None,
        cancel: Cancel,
    ) -> tuple[str, Run | None]: ...
    def start_tool(
        self,
        name: str,
        arguments: str,
        options: str,
        callback: _Callback,
        on_update: Callable[[str], None] | None,
        cancel: Cancel,
        on_done: Callable[[tuple[str, Run | None] | None, str | None], None],
    ) -> None: ...
    def close(self) -> None: ...
    def start_close(self, on_done: Callable[[bool | None, str | None], None]) -> None: ...
