/** The letters and digits of a text in lower case, sorted. */
function lettersOf(text: string): string {
  return [...text.toLowerCase().normalize('NFC')].filter(character => /[\p{L}\p{N}]/u.test(character)).sort().join('');
}

/** Checks whether two texts have the same letters and digits, each as often, ignoring case, spaces and punctuation. */
function execute({ first, second }: { first: string; second: string }): boolean {
  return lettersOf(first) === lettersOf(second);
}
