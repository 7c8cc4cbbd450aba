/** Merges objects; where several have a key, the value of the later object stands. */
function execute({ objects }: { objects: Record<string, unknown>[] }): Record<string, unknown> {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)));
}
