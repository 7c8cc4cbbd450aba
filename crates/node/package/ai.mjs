import adapter from "./ai.cjs";

export const { toolcellTools, toolcellApproval } = adapter;
