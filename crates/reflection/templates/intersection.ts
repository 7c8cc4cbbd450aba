const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

const without = (values: unknown[], others: unknown[], shared: boolean): unknown[] => {
  const keys = new Set(others.map(canonical));
  return values.filter((value, i) => keys.has(canonical(value)) === shared && values.findIndex((v) => canonical(v) === canonical(value)) === i);
};

/** The values of the first list that are in the second, too; each once, in the order of the first. */
function execute({ first, second }: { first: unknown[]; second: unknown[] }): unknown[] {
  return without(first, second, true);
}
