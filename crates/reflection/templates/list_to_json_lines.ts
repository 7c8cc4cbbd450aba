/** Writes a list as JSON Lines: one JSON value per line. */
function execute({ list }: { list: unknown[] }): string {
  return list.map((value) => JSON.stringify(value ?? null)).join("\n");
}
