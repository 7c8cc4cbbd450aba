/** Counts how often each value (as text) occurs in a list. */
function execute({ list }: { list: (string | number | boolean | null)[] }): Record<string, number> {
  const counts = new Map<string, number>();
  for (const value of list) {
    if (typeof value === "object" && value !== null) throw new Error("every item must be a text, number, boolean or null");
    counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
