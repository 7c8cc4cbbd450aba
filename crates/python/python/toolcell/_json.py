"""Values that cross the border as JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Union

Json = Union[None, bool, int, float, str, "list[Json]", "dict[str, Json]"]

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
# Half of a character: JSON has an escape for it, and UTF-8 has none.
_SURROGATE = "[\ud800-\udfff]"


def encode(value: object, name: str) -> str:
    """Returns a value as JSON; ``name`` is what an error calls it."""
    text = _to_text(value, name)
    return text if text.isascii() else re.sub(_SURROGATE, lambda half: f"\\u{ord(half.group()):04x}", text)


def encode_unicode(value: object, name: str) -> str:
    """Returns a value as JSON, all of whose texts are valid Unicode."""
    text = _to_text(value, name)
    if not text.isascii() and (half := re.search(_SURROGATE, text)):
        raise ValueError(f"{name} has half a character ({half.group()!r}): it must be valid Unicode")
    return text


def _to_text(value: object, name: str) -> str:
    try:
        try:
            return _encoder.encode(value)
        except (TypeError, ValueError):
            return _encoder.encode(_plain(value, name, ()))
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply") from None


def check_text(text: object, name: str) -> str:
    """Returns a source or a name, if it is a text."""
    if not isinstance(text, str):
        raise TypeError(f"{name} is a {type(text).__name__}, it must be a str")
    if not text.isascii() and (half := re.search(_SURROGATE, text)):
        raise ValueError(f"{name} has half a character ({half.group()!r}) at {half.start()}: it must be valid Unicode")
    return text


def check_texts(texts: object, name: str) -> list[str]:
    """Returns a sequence of texts, which a single text is not."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Sequence):
        raise TypeError(f"{name} is a {type(texts).__name__}, it must be a list of str")
    return [check_text(text, f"{name}[{index}]") for index, text in enumerate(texts)]


def encode_object(value: Mapping[str, Any] | None, name: str) -> str:
    """Returns a mapping as a JSON object; ``None`` is an empty one."""
    if value is None:
        return "{}"
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is a {type(value).__name__}, it must be a dict")
    return encode(value if type(value) is dict else dict(value), name)


def _plain(value: object, path: str, within: tuple[int, ...]) -> Json:
    """Converts what has an obvious JSON form; an error names the place of what has none."""
    if id(value) in within:
        raise ValueError(f"{path} contains itself")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{path} is {value}, which is not JSON")
        return float(value)
    inside = (*within, id(value))
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return _plain(dump(mode="json"), path, inside)
    if hasattr(type(value), "__dataclass_fields__"):
        # It has been imported by then.
        from dataclasses import fields

        members: Any = value
        return _plain({field.name: getattr(members, field.name) for field in fields(members)}, path, inside)
    if isinstance(value, Mapping):
        plain: dict[str, Json] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{path} has the key {key!r}, which is a {type(key).__name__}, not a str")
            plain[key] = _plain(item, f"{path}[{key!r}]", inside)
        return plain
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_plain(item, f"{path}[{index}]", inside) for index, item in enumerate(value)]
    raise TypeError(f"{path} is a {type(value).__name__}, which is not JSON")
