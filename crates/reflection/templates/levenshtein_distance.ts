/** The Levenshtein distance of two texts in characters (code points): the fewest insertions, deletions and replacements. */
function execute({ first, second }: { first: string; second: string }): number {
  const to = [...second];
  let row = [0, ...to.map((_character, i) => i + 1)];
  for (const [i, character] of [...first].entries()) {
    const next = [i + 1];
    for (const [k, other] of to.entries()) {
      next.push(Math.min(row[k + 1]! + 1, next[k]! + 1, row[k]! + (character === other ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length]!;
}
