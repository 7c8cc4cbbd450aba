/** Converts a text to lower case. */
function execute({ text }: { text: string }): string {
  return text.toLowerCase();
}
