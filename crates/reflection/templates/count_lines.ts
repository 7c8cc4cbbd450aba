/** Counts the lines of a text; a line break at the very end does not start another line. */
function execute({ text }: { text: string }): number {
  const lines = text.split(/\r\n|\r|\n/u);
  if (lines.at(-1) === '') lines.pop();
  return lines.length;
}
