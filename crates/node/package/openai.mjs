import adapter from "./openai.cjs";

export const { toolcellTools } = adapter;
