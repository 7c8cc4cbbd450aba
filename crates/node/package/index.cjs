"use strict";

const { Toolbox } = require("./toolbox.cjs");
const { ToolcellError, ToolFailed, Stopped, Refused } = require("./errors.cjs");

module.exports = { Toolbox, ToolcellError, ToolFailed, Stopped, Refused };
