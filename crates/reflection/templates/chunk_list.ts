/** Splits a list into chunks of a size; the last chunk may be shorter. */
function execute({ list, size }: { list: unknown[]; size: number }): unknown[][] {
  if (!Number.isInteger(size) || size < 1) throw new Error("size must be a whole number of 1 or more");
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}
