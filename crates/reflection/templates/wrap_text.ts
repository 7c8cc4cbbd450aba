/** Wraps each line of a text at white space so that it has at most `width` characters; longer words stay whole. */
function execute({ text, width }: { text: string; width: number }): string {
  if (!Number.isInteger(width) || width < 1) throw new Error(`width is ${width}; expected a whole number of at least 1`);
  const lines: string[] = [];
  for (const paragraph of text.split(/\r\n|\r|\n/u)) {
    let line = '';
    for (const word of paragraph.split(/\s+/u).filter(part => part !== '')) {
      if (line !== '' && [...line].length + 1 + [...word].length > width) {
        lines.push(line);
        line = word;
      } else {
        line = line === '' ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines.join('\n');
}
