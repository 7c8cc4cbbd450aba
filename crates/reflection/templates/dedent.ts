/** Removes the indentation (spaces and tabs) that all lines of a text share; lines of white space only become empty. */
function execute({ text }: { text: string }): string {
  const lines = text.split(/\r\n|\r|\n/u).map(line => (line.trim() === '' ? '' : line));
  const indents = lines.filter(line => line !== '').map(line => line.match(/^[ \t]*/u)?.[0] ?? '');
  let shared = indents[0] ?? '';
  for (const indent of indents) while (!indent.startsWith(shared)) shared = shared.slice(0, -1);
  return lines.map(line => line.slice(shared.length * (line === '' ? 0 : 1))).join('\n');
}
