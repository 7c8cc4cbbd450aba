/** Parses JSON Lines: one JSON value per line; empty lines are skipped. */
function execute({ text }: { text: string }): unknown[] {
  return text.split("\n").map((line, i): [string, number] => [line.trim(), i + 1]).filter(([line]) => line !== "").map(([line, number]): unknown => {
    try {
      return JSON.parse(line);
    } catch {
      throw new Error(`line ${number} is not valid JSON`);
    }
  });
}
