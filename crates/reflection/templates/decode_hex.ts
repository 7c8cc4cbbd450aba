/** The text that UTF-8 bytes encode. */
function textOf(bytes: number[]): string {
  try {
    return decodeURIComponent(bytes.map(byte => '%' + byte.toString(16).padStart(2, '0')).join(''));
  } catch {
    throw new Error('the decoded bytes are not a text; expected valid UTF-8');
  }
}

/** Decodes hexadecimal digits, two a byte (white space is ignored), to a text (UTF-8). */
function execute({ text }: { text: string }): string {
  const digits = text.replace(/\s+/gu, '');
  if (!/^(?:[0-9a-fA-F]{2})*$/u.test(digits)) throw new Error('the text is not hexadecimal; expected two digits from 0-9 and a-f for each byte');
  return textOf((digits.match(/../gu) ?? []).map(pair => parseInt(pair, 16)));
}
