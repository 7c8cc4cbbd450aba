/** Counts the positions at which two texts of the same length differ (Hamming distance). */
function execute({ first, second }: { first: string; second: string }): number {
  const [one, two] = [[...first], [...second]];
  if (one.length !== two.length) throw new Error(`the texts have ${one.length} and ${two.length} characters; the same length is expected`);
  return one.filter((char, i) => char !== two[i]).length;
}
