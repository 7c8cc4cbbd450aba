/** Removes white space from both ends of every line of a text. */
function execute({ text }: { text: string }): string {
  return text.split(/\r\n|\r|\n/u).map(line => line.trim()).join('\n');
}
