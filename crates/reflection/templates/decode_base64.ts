const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The text that UTF-8 bytes encode. */
function textOf(bytes: number[]): string {
  try {
    return decodeURIComponent(bytes.map(byte => '%' + byte.toString(16).padStart(2, '0')).join(''));
  } catch {
    throw new Error('the decoded bytes are not a text; expected valid UTF-8');
  }
}

/** Decodes Base64 (white space is ignored, padding is optional) to a text (UTF-8). */
function execute({ text }: { text: string }): string {
  const digits = text.replace(/\s+/gu, '').replace(/={1,2}$/u, '');
  if (!/^[A-Za-z0-9+\/]*$/u.test(digits) || digits.length % 4 === 1) throw new Error('the text is not valid Base64; expected A-Z, a-z, 0-9, + and /');
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const digit of digits) {
    bits = ((bits << 6) | ALPHABET.indexOf(digit)) & 0xffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push((bits >> count) & 255);
    }
  }
  return textOf(bytes);
}
