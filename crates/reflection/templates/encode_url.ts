/** Percent-encodes a text for use in a URL component. */
function execute({ text }: { text: string }): string {
  if (/\p{Cs}/u.test(text)) throw new Error('the text has half a surrogate pair; expected well-formed Unicode');
  return encodeURIComponent(text);
}
