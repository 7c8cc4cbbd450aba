/** Replaces every run of white space in a text by a single space. */
function execute({ text, trim }: { text: string; trim: boolean }): string {
  const collapsed = text.replace(/\s+/gu, ' ');
  return trim ? collapsed.trim() : collapsed;
}
