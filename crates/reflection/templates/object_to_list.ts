/** Turns an object into a list of its [key, value] pairs. */
function execute({ object }: { object: Record<string, unknown> }): [string, unknown][] {
  return Object.entries(object);
}
