const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

/** Finds the values that occur more than once in a list, each once, by first occurrence. */
function execute({ list }: { list: unknown[] }): unknown[] {
  const counts = new Map<string, number>();
  for (const value of list) counts.set(canonical(value), (counts.get(canonical(value)) ?? 0) + 1);
  return list.filter((value, i) => (counts.get(canonical(value)) ?? 0) > 1 && list.findIndex((v) => canonical(v) === canonical(value)) === i);
}
