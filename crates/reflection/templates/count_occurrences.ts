/** Counts how often a part occurs in a text, without overlaps, case sensitive. */
function execute({ text, part }: { text: string; part: string }): number {
  if (part === '') throw new Error('the part to count is empty; expected at least one character');
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}
