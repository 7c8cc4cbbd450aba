const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

/** Compares an old and a new list: the values only in the new one, and those only in the old one. */
function execute({ first, second }: { first: unknown[]; second: unknown[] }): { added: unknown[]; removed: unknown[] } {
  const [old, fresh] = [new Set(first.map(canonical)), new Set(second.map(canonical))];
  return { added: second.filter((v) => !old.has(canonical(v))), removed: first.filter((v) => !fresh.has(canonical(v))) };
}
