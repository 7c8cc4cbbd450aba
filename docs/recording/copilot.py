#!/usr/bin/env python3
"""Records a session of GitHub Copilot's command line as `copilot.cast`. usage: copilot.py TOOLCELL PACKAGES"""

import json

from host import Host, tea_timer

with Host("copilot", ["copilot"]) as copilot:
    copilot.env |= {
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": "scripted",
        "COPILOT_PROVIDER_BASE_URL": copilot.start_model("scripted_model.mjs", "startScriptedModel", tea_timer("toolcell-")),
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "128000",
        "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "4096",
    }
    copilot.write(".copilot/config.json", json.dumps({"trustedFolders": [str(copilot.project)]}))
    # Copilot asks about no call of the server, because Toolcell does.
    copilot.start(copilot.modules / "@github/copilot-linux-x64/copilot", "--allow-tool", "toolcell", until="~/project")
    copilot.ask("I need a tea timer")
    copilot.wait_for("Approve")
    copilot.watch(4)
    copilot.press("\r", 1)
    copilot.wait_for("shift+tab prev")
    # There is no reason to give for an approval.
    copilot.press("\r")
    copilot.wait_for("Your tea is ready.")
    copilot.watch(2)
    copilot.save()
