/** Reverses the characters of each word of a text; white space and the order of the words stay as they are. */
function execute({ text }: { text: string }): string {
  return text.replace(/\S+/gu, word => [...word].reverse().join(''));
}
