/** Repeats a text a number of times, with a separator in between. */
function execute({ text, times, separator }: { text: string; times: number; separator: string }): string {
  if (!Number.isInteger(times) || times < 0) throw new Error(`times is ${times}; expected a whole number, 0 or more`);
  if ((text.length + separator.length) * times > 10_000_000) throw new Error('the result is too long; expected at most 10 million characters');
  return Array.from({ length: times }, () => text).join(separator);
}
