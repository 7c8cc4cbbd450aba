/** Replaces every occurrence of `search` in a text, from the left, without overlaps, case sensitive. */
function execute({ text, search, replacement }: { text: string; search: string; replacement: string }): string {
  if (search === '') throw new Error('what to replace is empty; expected at least one character');
  return text.split(search).join(replacement);
}
