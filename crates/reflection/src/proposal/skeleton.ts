function execute(parameters: Record<string, unknown>): unknown {
  throw new Error("not written yet");
}
