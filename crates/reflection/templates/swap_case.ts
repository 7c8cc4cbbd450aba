/** Swaps upper case and lower case letters in a text. */
function execute({ text }: { text: string }): string {
  return [...text]
    .map(character => (character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase()))
    .join('');
}
