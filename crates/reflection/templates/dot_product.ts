/** Computes the dot product of two lists of numbers of the same length. */
function execute({ first, second }: { first: number[]; second: number[] }): number {
  if (first.length !== second.length) throw new Error(`the lists have ${first.length} and ${second.length} numbers; the same length is expected`);
  if (![...first, ...second].every(Number.isFinite)) throw new Error("the lists must contain only finite numbers");
  return first.reduce((sum, value, i) => sum + value * second[i], 0);
}
