/** Removes blank lines (empty or only white space) from a text. */
function execute({ text }: { text: string }): string {
  return text.split(/\r\n|\r|\n/u).filter(line => line.trim() !== '').join('\n');
}
