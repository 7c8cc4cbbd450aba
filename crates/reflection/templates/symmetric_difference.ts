const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

const without = (values: unknown[], others: unknown[], shared: boolean): unknown[] => {
  const keys = new Set(others.map(canonical));
  return values.filter((value, i) => keys.has(canonical(value)) === shared && values.findIndex((v) => canonical(v) === canonical(value)) === i);
};

/** The values that are in exactly one of two lists, each once: first those of the first list. */
function execute({ first, second }: { first: unknown[]; second: unknown[] }): unknown[] {
  return [...without(first, second, false), ...without(second, first, false)];
}
