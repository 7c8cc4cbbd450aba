/** Removes every falsy value from a list. */
function execute({ list }: { list: unknown[] }): unknown[] {
  return list.filter((value) => Boolean(value));
}
