/** Turns a list of [key, value] pairs into an object; of equal keys the last one stands. */
function execute({ pairs }: { pairs: [string, unknown][] }): Record<string, unknown> {
  if (!pairs.every((pair) => Array.isArray(pair) && pair.length === 2)) throw new Error("every pair must be a list of a key and a value");
  return Object.fromEntries(pairs);
}
