const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The UTF-8 bytes of a text. */
function utf8(text: string): number[] {
  if (/\p{Cs}/u.test(text)) throw new Error('the text has half a surrogate pair; expected well-formed Unicode');
  return (encodeURIComponent(text).match(/%[0-9A-F]{2}|[^]/gu) ?? [])
    .map(part => (part.length === 3 ? parseInt(part.slice(1), 16) : part.charCodeAt(0)));
}

/** Encodes a text (as UTF-8) in Base64 with padding. */
function execute({ text }: { text: string }): string {
  const bytes = utf8(text);
  let encoded = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const bits = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    for (let k = 0; k < 4; k++) encoded += i + k > bytes.length ? '=' : ALPHABET[(bits >> (18 - 6 * k)) & 63];
  }
  return encoded;
}
