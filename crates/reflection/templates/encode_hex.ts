/** The UTF-8 bytes of a text. */
function utf8(text: string): number[] {
  if (/\p{Cs}/u.test(text)) throw new Error('the text has half a surrogate pair; expected well-formed Unicode');
  return (encodeURIComponent(text).match(/%[0-9A-F]{2}|[^]/gu) ?? [])
    .map(part => (part.length === 3 ? parseInt(part.slice(1), 16) : part.charCodeAt(0)));
}

/** Encodes a text (as UTF-8) as hexadecimal digits, two a byte, in lower case. */
function execute({ text }: { text: string }): string {
  return utf8(text).map(byte => byte.toString(16).padStart(2, '0')).join('');
}
