import adapter from "./langchain.cjs";

export const { toolcellTools } = adapter;
