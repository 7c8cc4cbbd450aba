/** Counts the words in a text: its longest parts without white space. */
function execute({ text }: { text: string }): number {
  return text.match(/\S+/gu)?.length ?? 0;
}
