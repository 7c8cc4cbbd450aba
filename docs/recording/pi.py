#!/usr/bin/env python3
"""Records a session of pi with a scripted model, as `pi.cast` (asciicast v2) beside this file.

usage: pi.py TOOLCELL PACKAGES

PACKAGES is the folder in which `tests/hosts/run` installs pi 0.73. The pauses are those of the session, so two recordings
differ in their times.
"""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

COLUMNS, ROWS = 100, 34
HERE = Path(__file__).resolve().parent
HOSTS = HERE.parent.parent / "tests/hosts"
PROMPT = "I need a tea timer"
CODE = """export async function execute({ minutes }: { minutes: number }) {
  await sleep(minutes * 60_000 / 6_000);
  return `${minutes} minutes are over`;
}"""
PARAMETERS = {"minutes": {"type": "number", "description": "how long", "required": True}}
SCRIPT = [
    {"calls": [["create_tool", {"name": "tea_timer", "description": "Waits some minutes", "code": CODE, "parameters": PARAMETERS}]]},
    {"calls": [["run_dynamic_tool", {"tool_name": "tea_timer", "parameters": {"minutes": 3}}]]},
    {"text": "Your tea is ready."},
]
MODEL = f"""
import {{ startScriptedModel }} from {json.dumps(str(HOSTS / "scripted_model.mjs"))};
console.log((await startScriptedModel({json.dumps(SCRIPT)})).url);
"""

def main():
    toolcell, packages = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        env = {
            "PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor",
            "TOOLCELL_LANG": "en", "PI_OFFLINE": "1",
        }
        project = Path(home, "project")
        project.mkdir()
        policy = Path(home, ".config/toolcell/toolcell.toml")
        policy.parent.mkdir(parents=True)
        policy.write_text("[grants.default]\ntimers = true\n")
        subprocess.run([toolcell, "adapter", "pi", "--user", "--write"], cwd=project, env=env, check=True, capture_output=True)
        model = subprocess.Popen(["node", "--input-type=module", "-e", MODEL], stdout=subprocess.PIPE, text=True)
        env["SCRIPTED_MODEL"] = model.stdout.readline().strip()
        pi = f"{packages}/node_modules/@mariozechner/pi-coding-agent/dist/cli.js"
        words = ["node", pi, "-e", f"{HOSTS}/pi/model.ts", "--model", "scripted/scripted-1", "--no-session", "--offline"]
        events = record(words, project, env)
        model.kill()
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "env": {"TERM": "xterm-256color"}}
    lines = [json.dumps(line, ensure_ascii=False) for line in [header, *events]]
    (HERE / "pi.cast").write_text("\n".join(lines) + "\n")


def record(words, folder, env):
    """Runs the session, answers its dialogue, and returns what the terminal shows: time, "o", text."""
    main_end, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    child = subprocess.Popen(words, cwd=folder, env=env, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    events, began, shown = [], time.monotonic(), [b""]

    def watch(seconds, until=None):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([main_end], [], [], 0.05)[0]:
                continue
            data = os.read(main_end, 65536)
            shown[0] += data
            events.append([round(time.monotonic() - began, 2), "o", data.decode(errors="replace")])
            if until is not None and until in shown[0]:
                return

    watch(5)
    began = time.monotonic()
    events[:] = [[0, "o", "".join(event[2] for event in events)]]
    watch(1)
    for letter in PROMPT:
        os.write(main_end, letter.encode())
        watch(0.06)
    os.write(main_end, b"\r")
    watch(15, b"Approve")
    watch(4)
    os.write(main_end, b"\r")
    watch(5)
    child.kill()
    return events


if __name__ == "__main__":
    main()
