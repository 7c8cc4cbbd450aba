"use strict";

const { Toolbox } = require("./toolbox.cjs");
const { ToolcellError, ToolFailed, Stopped, Refused } = require("./errors.cjs");
const { SuspendedRun, defer } = require("./suspend.cjs");
const { flameGraph } = require("./profile.cjs");

module.exports = { Toolbox, ToolcellError, ToolFailed, Stopped, Refused, SuspendedRun, defer, flameGraph };
