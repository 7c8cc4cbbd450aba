/** Swaps the keys and values of an object; of keys with the same value the last one stands. */
function execute({ object }: { object: Record<string, unknown> }): Record<string, string> {
  const entries = Object.entries(object).map(([key, value]): [string, string] => {
    if (typeof value === "object" && value !== null) throw new Error(`the value of "${key}" cannot be a key; a text, number or boolean is expected`);
    return [String(value), key];
  });
  return Object.fromEntries(entries);
}
