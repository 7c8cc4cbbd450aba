/** Decodes the percent-encoding of a text. */
function execute({ text }: { text: string }): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('the text is not valid percent-encoding; expected % and two hexadecimal digits for each byte of UTF-8');
  }
}
