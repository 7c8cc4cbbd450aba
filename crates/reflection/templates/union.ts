const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

const without = (values: unknown[], others: unknown[], shared: boolean): unknown[] => {
  const keys = new Set(others.map(canonical));
  return values.filter((value, i) => keys.has(canonical(value)) === shared && values.findIndex((v) => canonical(v) === canonical(value)) === i);
};

/** The values of both lists, each once: first those of the first, then the new ones of the second. */
function execute({ first, second }: { first: unknown[]; second: unknown[] }): unknown[] {
  return without([...first, ...second], [...first, ...second], true);
}
