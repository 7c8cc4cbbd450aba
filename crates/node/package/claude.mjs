import adapter from "./claude.cjs";

export const { toolcellTools } = adapter;
