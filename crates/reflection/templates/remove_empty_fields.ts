/** Removes the fields of an object that are null, undefined or empty texts; 0 and false stay. */
function execute({ object }: { object: Record<string, unknown> }): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined && value !== ""));
}
