const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

/** Finds the value that occurs most often in a list; of several, the one that comes first. */
function execute({ list }: { list: unknown[] }): unknown {
  if (list.length === 0) throw new Error("the list is empty; at least one value is expected");
  const counts = new Map<string, number>();
  for (const value of list) counts.set(canonical(value), (counts.get(canonical(value)) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return list.find((value) => counts.get(canonical(value)) === most);
}
