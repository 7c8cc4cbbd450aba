/** Reverses the characters (code points) of a text. */
function execute({ text }: { text: string }): string {
  return [...text].reverse().join('');
}
