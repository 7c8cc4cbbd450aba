/** Lists the most frequent words of a text in lower case, most frequent first; ties in order of first appearance. */
function execute({ text, count }: { text: string; count: number }): string[] {
  if (!Number.isInteger(count) || count < 1) throw new Error(`count is ${count}; expected a whole number of at least 1`);
  const words = text.normalize('NFC').toLowerCase().match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, count).map(([word]) => word);
}
