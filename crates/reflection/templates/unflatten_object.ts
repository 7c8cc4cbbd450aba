/** Builds a nested object from dot paths: {"a.b": 1} becomes {a: {b: 1}}. */
function execute({ object }: { object: Record<string, unknown> }): Record<string, unknown> {
  const root = new Map<string, unknown>();
  for (const [path, value] of Object.entries(object)) {
    const keys = path.split(".");
    let node = root;
    for (const key of keys.slice(0, -1)) {
      const next = node.get(key) ?? new Map<string, unknown>();
      if (!(next instanceof Map)) throw new Error(`"${path}" is in conflict with another path`);
      node.set(key, next);
      node = next;
    }
    if (node.has(keys[keys.length - 1])) throw new Error(`"${path}" is in conflict with another path`);
    node.set(keys[keys.length - 1], value);
  }
  const plain = (node: unknown): unknown => (node instanceof Map ? Object.fromEntries([...node].map(([k, v]) => [k, plain(v)])) : node);
  return plain(root) as Record<string, unknown>;
}
