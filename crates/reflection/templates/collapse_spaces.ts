/** Replaces every run of spaces in a text by a single space; other white space stays. */
function execute({ text }: { text: string }): string {
  return text.replace(/ +/gu, ' ');
}
