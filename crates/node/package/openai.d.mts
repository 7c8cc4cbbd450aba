export * from "./openai.cjs";
