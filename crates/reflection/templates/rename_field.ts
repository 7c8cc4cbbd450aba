/** Renames a field of an object, keeping its place; an object without the field stays as it is. */
function execute({ object, from, to }: { object: Record<string, unknown>; from: string; to: string }): Record<string, unknown> {
  if (!Object.hasOwn(object, from)) return object;
  if (from !== to && Object.hasOwn(object, to)) throw new Error(`the object already has a field "${to}"`);
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}
