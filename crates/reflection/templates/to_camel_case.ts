/** The words of a text or identifier: runs of letters and digits, split where lower case meets upper case. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** A word with its first letter in upper case and the others in lower case. */
function capitalized(word: string): string {
  const [first = '', ...rest] = [...word];
  return first.toUpperCase() + rest.join('').toLowerCase();
}

/** Converts a text to camelCase. */
function execute({ text }: { text: string }): string {
  const words = wordsOf(text);
  return words.map((word, i) => (i === 0 ? word.toLowerCase() : capitalized(word))).join('');
}
