#!/usr/bin/env python3
"""Records a session of pi as `pi.cast`. usage: pi.py TOOLCELL PACKAGES"""

from host import HOSTS, Host, tea_timer

with Host("pi", ["pi", "--user"]) as pi:
    pi.env |= {"PI_OFFLINE": "1", "SCRIPTED_MODEL": pi.start_model("scripted_model.mjs", "startScriptedModel", tea_timer())}
    program = pi.modules / "@mariozechner/pi-coding-agent/dist/cli.js"
    options = ["-e", HOSTS / "pi/model.ts", "--model", "scripted/scripted-1", "--no-session", "--offline"]
    pi.start("node", program, *options, until="~/project")
    pi.ask("I need a tea timer")
    pi.wait_for("Approve")
    pi.watch(4)
    pi.press("\r")
    pi.wait_for("Your tea is ready.")
    pi.watch(2)
    pi.save()
