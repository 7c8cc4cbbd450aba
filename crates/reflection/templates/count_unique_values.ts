const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

/** Counts the distinct values of a list (objects and lists by content). */
function execute({ list }: { list: unknown[] }): number {
  return new Set(list.map(canonical)).size;
}
