"""Runs the examples of a page: `readme.py PAGE LANGUAGE COMMAND...`, and compares what they print with their comments.

A comment at the end of a line that prints (`print(6)  # 6`, `console.log(6) // 6`) is what the line prints. What a test runner
prints is not compared: an example without such a line has to succeed.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

readme, language, *command = sys.argv[1:]
blocks = re.findall(rf"^```{language}\n(.*?)^```", pathlib.Path(readme).read_text(), re.MULTILINE | re.DOTALL)
assert blocks, f"{readme} has no example in {language}"
for block in blocks:
    is_compared = re.search(r"\b(?:print|console\.log)\(", block)
    expected = re.findall(r"^.*(?:print|console\.log)\(.*\).*?(?:#|//) (.*)$", block, re.MULTILINE)
    suffix = ".mjs" if language == "js" else ".py"
    # Beside the packages, so that they are found.
    with tempfile.NamedTemporaryFile("w", suffix=suffix, dir=".", delete=False) as file:
        file.write(block)
    done = subprocess.run([*command, file.name], capture_output=True, text=True, check=False)
    pathlib.Path(file.name).unlink()
    printed = done.stdout.splitlines() if is_compared else []
    assert done.returncode == 0 and printed == expected, f"{block}\nprinted {printed}, not {expected}\n{done.stderr}"
print(f"{readme}: {len(blocks)} examples in {language} print what they say")
