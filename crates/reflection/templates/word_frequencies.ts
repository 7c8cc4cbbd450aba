/** Counts how often each word (letters, digits, inner apostrophes and hyphens) occurs; an object from word to count. */
function execute({ text, ignoreCase }: { text: string; ignoreCase: boolean }): Record<string, number> {
  const normalized = text.normalize('NFC');
  const words = (ignoreCase ? normalized.toLowerCase() : normalized)
    .match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries(counts);
}
