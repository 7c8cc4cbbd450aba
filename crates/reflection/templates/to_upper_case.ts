/** Converts a text to upper case. */
function execute({ text }: { text: string }): string {
  return text.toUpperCase();
}
