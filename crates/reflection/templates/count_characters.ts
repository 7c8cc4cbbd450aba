/** Counts the characters (code points) of a text, with or without its white space. */
function execute({ text, countSpaces }: { text: string; countSpaces: boolean }): number {
  return [...(countSpaces ? text : text.replace(/\s+/gu, ''))].length;
}
