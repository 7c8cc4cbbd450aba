/** Indents every line of a text that is not blank by a number of spaces. */
function execute({ text, spaces }: { text: string; spaces: number }): string {
  if (!Number.isInteger(spaces) || spaces < 0 || spaces > 100) throw new Error(`spaces is ${spaces}; expected a whole number from 0 to 100`);
  const indentation = ' '.repeat(spaces);
  return text.split(/\r\n|\r|\n/u).map(line => (line.trim() === '' ? line : indentation + line)).join('\n');
}
