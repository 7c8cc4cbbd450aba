/** Splits a text at every occurrence of a separator; the parts are not trimmed and empty parts stay. */
function execute({ text, separator }: { text: string; separator: string }): string[] {
  if (separator === '') throw new Error('the separator is empty; expected at least one character');
  return text.split(separator);
}
