/** Pairs up the values of two lists of the same length. */
function execute({ first, second }: { first: unknown[]; second: unknown[] }): [unknown, unknown][] {
  if (first.length !== second.length) throw new Error(`the lists must have the same length, but have ${first.length} and ${second.length} values`);
  return first.map((value, i) => [value, second[i]]);
}
