/** Reverses the order of the words of a text; the words are joined by single spaces. */
function execute({ text }: { text: string }): string {
  return text.split(/\s+/u).filter(word => word !== '').reverse().join(' ');
}
