/** Removes all punctuation characters (Unicode category P) from a text. */
function execute({ text }: { text: string }): string {
  return text.replace(/\p{P}+/gu, '');
}
