export * from "./copilot.cjs";
