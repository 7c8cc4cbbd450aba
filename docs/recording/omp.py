#!/usr/bin/env python3
"""Records a session of oh-my-pi as `omp.cast`. usage: omp.py TOOLCELL PACKAGES"""

from host import HOSTS, Host, tea_timer

with Host("omp", ["omp", "--user"]) as omp:
    omp.env |= {"PI_OFFLINE": "1", "SCRIPTED_MODEL": omp.start_model("scripted_model.mjs", "startScriptedModel", tea_timer())}
    omp.write(".omp/agent/config.yml", "startup:\n  setupWizard: false\n  checkUpdate: false\n")
    bun = omp.modules / "@oven/bun-linux-x64/bin/bun"
    program = omp.modules / "@oh-my-pi/pi-coding-agent/dist/cli.js"
    options = ["-e", HOSTS / "pi/model.ts", "--model", "scripted/scripted-1", "--no-session", "--no-lsp", "--no-title"]
    omp.start(bun, program, *options, until="/project")
    omp.ask("I need a tea timer")
    omp.wait_for("Approve")
    omp.watch(4)
    omp.press("\r")
    omp.wait_for("Your tea is ready.")
    omp.watch(2)
    omp.save()
