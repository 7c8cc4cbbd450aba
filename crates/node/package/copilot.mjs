import adapter from "./copilot.cjs";

export const { toolcellTools, toolcellPermissions } = adapter;
