/** Counts how often each character (code point) occurs in a text; an object from character to count. */
function execute({ text }: { text: string }): Record<string, number> {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return Object.fromEntries(counts);
}
