/** Sorts the keys of an object by code units, at its top level. */
function execute({ object }: { object: Record<string, unknown> }): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
