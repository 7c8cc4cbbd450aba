const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Flattens a nested object: {a: {b: 1}} becomes {"a.b": 1}. Lists and empty objects stay values. */
function execute({ object }: { object: Record<string, unknown> }): Record<string, unknown> {
  const paths = (value: Record<string, unknown>, prefix: string): [string, unknown][] =>
    Object.entries(value).flatMap(([key, inner]): [string, unknown][] =>
      isPlain(inner) && Object.keys(inner).length > 0 ? paths(inner, `${prefix}${key}.`) : [[prefix + key, inner]]);
  return Object.fromEntries(paths(object, ""));
}
