/** Turns a text into a URL slug: letters and digits in lower case, accents removed, everything else one hyphen. */
function execute({ text }: { text: string }): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .normalize('NFC')
    .replace(/[\u0300-\u036f]/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(part => part !== '')
    .join('-');
}
