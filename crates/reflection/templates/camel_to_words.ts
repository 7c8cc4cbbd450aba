/** Separates the words of a camelCase name by spaces. */
function execute({ text, lowerCase }: { text: string; lowerCase: boolean }): string {
  const words = text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  return lowerCase ? words.toLowerCase() : words;
}
