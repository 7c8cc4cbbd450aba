"""Results in notebooks.

Invariant: each text is escaped, because tools have written some of them.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._results import Finding


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table: a title for each column, and rows."""
    lines = ["".join(f"<th>{html.escape(title)}</th>" for title in head)] if head else []
    lines += ["".join(f'<td style="text-align:left">{html.escape(str(cell))}</td>' for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def findings_table(findings: Sequence[Finding]) -> str:
    """Returns a table of findings."""
    if not findings:
        return "<p>no findings</p>"
    rows = [(one.severity, one.rule, one.line, one.description, one.suggestion) for one in findings]
    return table(("severity", "rule", "line", "description", "suggestion"), rows)


def frame(page: str, height: int) -> str:
    """Returns a frame with a page of its own, whose scripts reach nothing outside of it."""
    style = f"width:100%;height:{height}px;border:0"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{html.escape(page)}"></iframe>'
