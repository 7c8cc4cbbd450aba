/** All pairs of a value of the first and a value of the second list. */
function execute({ first, second }: { first: unknown[]; second: unknown[] }): [unknown, unknown][] {
  return first.flatMap((a) => second.map((b): [unknown, unknown] => [a, b]));
}
