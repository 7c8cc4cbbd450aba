/** The longest word (letters, digits, inner apostrophes and hyphens) of a text; the first of several as long. */
function execute({ text }: { text: string }): string {
  const words = text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
  if (words.length === 0) throw new Error('the text has no words; expected at least one');
  return words.reduce((longest, word) => ([...word].length > [...longest].length ? word : longest));
}
