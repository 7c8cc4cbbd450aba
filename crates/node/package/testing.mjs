export { ToolCaseFailed, toolcellTests } from "./testing.cjs";
