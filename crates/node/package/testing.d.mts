export * from "./testing.cjs";
