import toolcell from "./index.cjs";

export const { Toolbox, ToolcellError, ToolFailed, Stopped, Refused, SuspendedRun, defer, flameGraph } = toolcell;
