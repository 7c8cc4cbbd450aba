const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v) ?? "undefined";

/** Compares two objects: the names of the fields added, removed, and changed in value (compared by content). */
function execute({ before, after }: { before: Record<string, unknown>; after: Record<string, unknown> }): { added: string[]; removed: string[]; changed: string[] } {
  const old = Object.keys(before);
  const fresh = Object.keys(after);
  return {
    added: fresh.filter((key) => !Object.hasOwn(before, key)),
    removed: old.filter((key) => !Object.hasOwn(after, key)),
    changed: old.filter((key) => Object.hasOwn(after, key) && canonical(before[key]) !== canonical(after[key])),
  };
}
