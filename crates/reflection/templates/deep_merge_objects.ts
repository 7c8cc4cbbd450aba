const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const merge = (a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> => {
  const result = new Map(Object.entries(a));
  for (const [key, value] of Object.entries(b)) {
    const old = result.get(key);
    result.set(key, isPlain(old) && isPlain(value) ? merge(old, value) : value);
  }
  return Object.fromEntries(result);
};

/** Merges objects at every depth; other values, also lists, of the later object replace those of the earlier. */
function execute({ objects }: { objects: Record<string, unknown>[] }): Record<string, unknown> {
  return objects.reduce(merge, {});
}
