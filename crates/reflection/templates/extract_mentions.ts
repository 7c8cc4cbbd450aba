/** Extracts the mentions (@name) from a text, in order; a @ inside a word does not count. */
function execute({ text, sign, lowerCase, unique }: { text: string; sign: boolean; lowerCase: boolean; unique: boolean }): string[] {
  const found: string[] = [];
  for (const match of text.matchAll(/(^|[^\p{L}\p{N}_@&\/.])(@[\p{L}\p{N}_]+)/gu)) {
    const tag = sign ? match[2]! : match[2]!.slice(1);
    found.push(lowerCase ? tag.toLowerCase() : tag);
  }
  return unique ? [...new Set(found)] : found;
}
