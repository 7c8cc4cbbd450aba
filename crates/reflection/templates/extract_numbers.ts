/** Extracts the decimal numbers from a text, in order; a hyphen is a minus sign unless a letter or digit precedes it. */
function execute({ text, unique }: { text: string; unique: boolean }): number[] {
  const found: number[] = [];
  for (const match of text.matchAll(/([\p{L}\p{N}]-|-)?([0-9]+(?:\.[0-9]+)?)/gu)) {
    const value = Number(match[2]);
    if (!Number.isFinite(value)) throw new Error('a number in the text is too large; expected numbers below 1.8e308');
    found.push(match[1] === '-' && value !== 0 && !/[\p{L}\p{N}]/u.test(text[match.index - 1] ?? '') ? -value : value);
  }
  return unique ? [...new Set(found)] : found;
}
