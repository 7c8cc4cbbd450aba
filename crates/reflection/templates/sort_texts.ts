/** Sorts texts alphabetically; upper and lower case count alike, ties are broken by code units. */
function execute({ texts, order }: { texts: string[]; order: string }): string[] {
  if (order !== "ascending" && order !== "descending") throw new Error("order must be \"ascending\" or \"descending\"");
  if (!texts.every((text) => typeof text === "string")) throw new Error("every item of texts must be a text");
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const sorted = [...texts].sort((a, b) => compare(a.toLowerCase(), b.toLowerCase()) || compare(a, b));
  return order === "ascending" ? sorted : sorted.reverse();
}
