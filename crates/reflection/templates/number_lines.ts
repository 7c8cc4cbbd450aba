/** Puts its number before every line of a text, from 1. */
function execute({ text, separator }: { text: string; separator: string }): string {
  return text.split(/\r\n|\r|\n/u).map((line, i) => `${i + 1}${separator}${line}`).join('\n');
}
