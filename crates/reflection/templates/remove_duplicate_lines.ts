/** Removes lines of a text that occurred before; the first of each stays, in order. */
function execute({ text }: { text: string }): string {
  return [...new Set(text.split(/\r\n|\r|\n/u))].join('\n');
}
