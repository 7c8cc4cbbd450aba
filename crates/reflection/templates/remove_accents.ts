/** Removes the accents from the letters of a text: é becomes e; letters of their own such as ß or ø stay. */
function execute({ text }: { text: string }): string {
  return text.normalize('NFD').replace(/[\u0300-\u036f]+/gu, '').normalize('NFC');
}
