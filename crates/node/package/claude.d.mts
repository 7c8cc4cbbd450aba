export * from "./claude.cjs";
