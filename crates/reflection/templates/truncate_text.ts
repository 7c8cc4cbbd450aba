/** Shortens a text to at most `length` characters (code points), the ellipsis included. */
function execute({ text, length, ellipsis }: { text: string; length: number; ellipsis: string }): string {
  const mark = [...ellipsis];
  if (!Number.isInteger(length) || length < mark.length) {
    throw new Error(`length is ${length}; expected a whole number of at least ${mark.length}, the length of the ellipsis`);
  }
  const characters = [...text];
  return characters.length <= length ? text : characters.slice(0, length - mark.length).join('') + ellipsis;
}
