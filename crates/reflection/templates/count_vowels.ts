/** Counts the vowels a, e, i, o and u of a text, in upper and lower case. */
function execute({ text }: { text: string }): number {
  return text.match(/[aeiou]/giu)?.length ?? 0;
}
