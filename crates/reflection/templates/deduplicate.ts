const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

/** Removes duplicates from a list: of equal values (objects and lists by content) only the first stays. */
function execute({ list }: { list: unknown[] }): unknown[] {
  const seen = new Set<string>();
  return list.filter((value) => {
    const key = canonical(value);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
