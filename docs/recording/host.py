"""Records a session of an agent host with a scripted model, in a pseudo-terminal, as asciicast v2.

Invariant: a recording holds all that the host printed, except for sequences that print nothing. The pauses are those of the
session, so two recordings differ in their times.
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pyte

COLUMNS, ROWS = 100, 34
HERE = Path(__file__).resolve().parent
HOSTS = HERE.parent.parent / "tests/hosts"
# Output events that are closer together than this are one frame.
FRAME_SECONDS = 0.05

POLICY = "[grants.default]\ntimers = true\n"
CODE = """export async function execute({ minutes }: { minutes: number }) {
  await sleep(minutes * 60_000 / 6_000);
  return `${minutes} minutes are over`;
}"""
PARAMETERS = {"minutes": {"type": "number", "description": "how long", "required": True}}

# Keyboard protocols, queries, device control strings and application commands, some of which pyte takes for text or colors.
UNPRINTED = re.compile(r"\x1b\[[<>=][\d;:]*[a-zA-Z]|\x1b\[\?[\d;]*([un]|\$p)|\x1b[P_^][^\x1b]*\x1b\\")
# A sequence whose end is not yet read.
CUT_SEQUENCE = re.compile(r"\x1b(\[[^@-~]*|[P_^\]][^\x07\x1b]*\x1b?)?$")
# What changes on the screen while a host waits: a spinner, and the time beside it.
SPINNER = re.compile(r"[\u2800-\u28ff✢✳✶✻✽✺·∗*◐◓◑◒◉◎○●∙•]|\b[\d.]+m?s\b")


def tea_timer(prefix=""):
    """Returns a script of the model that creates and runs a tool. The prefix is the host's for the tools of a server."""
    tool = {"name": "tea_timer", "description": "Waits some minutes", "code": CODE, "parameters": PARAMETERS}
    return [
        {"calls": [[f"{prefix}create_tool", tool]]},
        {"calls": [[f"{prefix}run_dynamic_tool", {"tool_name": "tea_timer", "parameters": {"minutes": 3}}]]},
        {"text": "Your tea is ready."},
    ]


class Host:
    """A host in a terminal, with an adapter of Toolcell, in a temporary home with a project.

    The arguments of the program are the path of Toolcell, and the folder in which `tests/hosts/run` installs the host.
    """

    def __init__(self, name, adapter, policy=POLICY):
        toolcell, packages = sys.argv[1:]
        self.name, self.modules = name, Path(packages, "node_modules")
        # oh-my-pi shows the names of temporary folders.
        self.folder = tempfile.TemporaryDirectory(dir=Path(packages).parent, ignore_cleanup_errors=True)
        self.home = Path(self.folder.name)
        self.project = self.home / "project"
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.home / "tmp"), "LANG": "C.UTF-8", "TZ": "UTC",
            "TERM": "xterm-256color", "COLORTERM": "truecolor", "TOOLCELL_LANG": "en",
        }
        for folder in self.project, self.home / "tmp":
            folder.mkdir()
        self.write(".config/toolcell/toolcell.toml", policy)
        subprocess.run([toolcell, "adapter", *adapter, "--write"], cwd=self.project, env=self.env, check=True, capture_output=True)
        self.children = []
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.Stream(self.screen)
        self.events, self.unread, self.pending = [], b"", ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in self.children:
            child.kill()
            child.wait()
        self.folder.cleanup()

    def write(self, path, text):
        """Writes a file of the home."""
        path = self.home / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start_model(self, module, function, script):
        """Starts a scripted model of the tests, and returns its URL."""
        start = f"import {{ {function} as start }} from {json.dumps(str(HOSTS / module))};"
        code = f"{start} console.log((await start({json.dumps(script)})).url);"
        model = subprocess.Popen(["node", "--input-type=module", "-e", code], stdout=subprocess.PIPE, text=True)
        self.children.append(model)
        return model.stdout.readline().strip()

    def start(self, *words, until):
        """Starts the host, and begins to record when a text is on the screen and the tools are loaded."""
        self.terminal, child_end = pty.openpty()
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        streams = {"stdin": child_end, "stdout": child_end, "stderr": child_end}
        words = [str(word) for word in words]
        self.children.append(subprocess.Popen(words, cwd=self.project, env=self.env, start_new_session=True, **streams))
        os.close(child_end)
        self.screen.write_process_input = lambda answer: os.write(self.terminal, answer.encode())
        self.began = time.monotonic()
        self.wait_for(until, 60)
        self.watch(6)
        self.events = [[0, "o", "".join(event[2] for event in self.events) + self.pending]]
        self.pending, self.began = "", time.monotonic()
        self.watch(1)

    def ask(self, prompt):
        """Types a prompt."""
        for letter in prompt:
            self.press(letter, 0.06)
        self.press("\r")

    def press(self, key, pause=0.0):
        os.write(self.terminal, key.encode())
        self.watch(pause)

    def wait_for(self, text, seconds=30):
        """Records until a text is on the screen."""
        end = time.monotonic() + seconds
        while text not in self.shown():
            if time.monotonic() > end:
                sys.exit(f"{self.name}: `{text}` is not on the screen after {seconds} s:\n{self.shown()}")
            self.watch(0.05)

    def watch(self, seconds):
        """Records for some time."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], rest)[0]:
                self.record(os.read(self.terminal, 65536))

    def shown(self):
        return "\n".join(self.screen.display)

    def record(self, data):
        self.unread += data
        try:
            text = self.unread.decode()
        except UnicodeDecodeError as error:
            if len(self.unread) - error.start > 3:
                raise
            return
        if CUT_SEQUENCE.search(text):
            return
        self.unread = b""
        text = UNPRINTED.sub("", text)
        before = SPINNER.sub(" ", self.shown())
        self.stream.feed(text)
        self.pending += text
        if SPINNER.sub(" ", self.shown()) == before:
            return
        now = round(time.monotonic() - self.began, 2)
        if self.events and now - self.events[-1][0] < FRAME_SECONDS:
            self.events[-1][2] += self.pending
        else:
            self.events.append([now, "o", self.pending])
        self.pending = ""

    def save(self):
        """Writes the recording beside this file."""
        header = {"version": 2, "width": COLUMNS, "height": ROWS, "env": {"TERM": "xterm-256color"}}
        end = [round(time.monotonic() - self.began, 2), "o", self.pending]
        lines = [json.dumps(line, ensure_ascii=False) for line in [header, *self.events, end]]
        (HERE / f"{self.name}.cast").write_text("\n".join(lines) + "\n")
