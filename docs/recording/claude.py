#!/usr/bin/env python3
"""Records a session of Claude Code as `claude.cast`. usage: claude.py TOOLCELL PACKAGES"""

import json

from host import POLICY, Host, tea_timer

RULES = """
[[external_tools.rules]]
tools = ["bash"]
args = { command = ["rm *"] }
decision = "deny"
reason = "move it to the trash instead"

[[external_tools.rules]]
tools = ["mcp__toolcell__*"]
decision = "allow"
"""
SCRIPT = [
    {"calls": [["Bash", {"command": "rm -rf build", "description": "Remove the old build"}]]},
    *tea_timer("mcp__toolcell__")[:-1],
    {"text": "Your tea is ready. The old build is still there: `rm` is denied here."},
]
RIGHT, DOWN, ENTER = "\x1b[C", "\x1b[B", "\r"

with Host("claude", ["claude", "--gate"], POLICY + RULES) as claude:
    claude.env |= {
        "ANTHROPIC_BASE_URL": claude.start_model("claude/model.mjs", "startModel", SCRIPT),
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        # The context size of a model whose name is unknown. Claude Code reads it only where it does not compact.
        "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "200000",
        "DISABLE_COMPACT": "1",
    }
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        "projects": {str(claude.project): {"hasTrustDialogAccepted": True, "enabledMcpjsonServers": ["toolcell"]}},
    }
    claude.write(".claude.json", json.dumps(state))
    program = claude.modules / "@anthropic-ai/claude-agent-sdk-linux-x64/claude"
    # Without `--verbose`, it shows the number of calls only.
    claude.start(program, "--model", "scripted", "--permission-mode", "default", "--verbose", until="? for shortcuts")
    claude.ask("Remove the old build, then time my tea")
    claude.wait_for("requests your input")
    claude.watch(4)
    for key in RIGHT, ENTER, DOWN, ENTER:
        claude.press(key, 1)
    claude.wait_for("Your tea is ready.")
    claude.watch(2)
    claude.save()
