/** Removes white space from both ends of a text. */
function execute({ text }: { text: string }): string {
  return text.trim();
}
