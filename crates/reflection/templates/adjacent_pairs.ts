/** The pairs of neighbouring values: [1, 2, 3] gives [[1, 2], [2, 3]]. */
function execute({ list }: { list: unknown[] }): [unknown, unknown][] {
  return list.slice(1).map((value, i) => [list[i], value]);
}
