#!/usr/bin/env python3
"""Records the commands of `session.txt` as `session.cast` (asciicast v2), each run in a pseudo-terminal.

usage: record.py FOLDER-OF-THE-BINARY

The pauses are fixed, so the recording changes only if the output does.
"""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COLUMNS, ROWS = 100, 30
KEY_SECONDS, START_SECONDS, READ_SECONDS = 0.03, 0.4, 2.5
PROMPT = "\x1b[32m$\x1b[0m "


def run(command, folder, binaries):
    """Returns what a command prints on a terminal."""
    main, terminal = pty.openpty()
    env = {
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "HOME": folder,
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "TOOLCELL_LANG": "en",
        "COLUMNS": str(COLUMNS),
        "LINES": str(ROWS),
    }
    child = subprocess.Popen(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal)
    os.close(terminal)
    output = b""
    while select.select([main], [], [], 60)[0]:
        try:
            output += os.read(main, 65536)
        except OSError:
            break
    os.close(main)
    if child.wait() != 0:
        sys.exit(f"{command}\n{output.decode()}")
    return output.decode()


def main():
    binaries = Path(sys.argv[1]).resolve()
    here = Path(__file__).parent
    folder = tempfile.mkdtemp()
    seconds, events = START_SECONDS, []
    for command in (here / "session.txt").read_text().splitlines():
        events.append([seconds, "o", PROMPT])
        for word in re.findall(r"\S+ ?", command):
            seconds += KEY_SECONDS * len(word)
            events.append([round(seconds, 3), "o", word])
        seconds += START_SECONDS
        events.append([round(seconds, 3), "o", "\r\n" + run(command, folder, binaries)])
        seconds += READ_SECONDS
    events.append([round(seconds, 3), "o", PROMPT])
    shutil.rmtree(folder)
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "env": {"TERM": "xterm-256color"}}
    lines = [json.dumps(line, ensure_ascii=False) for line in [header, *events]]
    (here / "session.cast").write_text("\n".join(lines) + "\n")


main()
