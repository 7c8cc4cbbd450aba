/** Counts the lines of a text that have more than white space. */
function execute({ text }: { text: string }): number {
  return text.split(/\r\n|\r|\n/u).filter(line => line.trim() !== '').length;
}
