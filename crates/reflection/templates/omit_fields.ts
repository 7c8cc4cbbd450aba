/** Leaves out the named fields of an object. */
function execute({ object, fields }: { object: Record<string, unknown>; fields: string[] }): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !fields.includes(key)));
}
