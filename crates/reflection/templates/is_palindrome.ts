/** Checks whether a text reads the same backwards. */
function execute({ text, ignoreCase, ignorePunctuation }: { text: string; ignoreCase: boolean; ignorePunctuation: boolean }): boolean {
  const folded = (ignoreCase ? text.toLowerCase() : text).normalize('NFC');
  const characters = [...folded].filter(character => !ignorePunctuation || /[\p{L}\p{N}]/u.test(character));
  return characters.every((character, i) => character === characters[characters.length - 1 - i]);
}
