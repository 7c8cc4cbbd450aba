/** The words of a text or identifier: runs of letters and digits, split where lower case meets upper case. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Converts a text to kebab-case. */
function execute({ text }: { text: string }): string {
  const words = wordsOf(text);
  return words.map(word => word.toLowerCase()).join('-');
}
