/** Removes null, undefined and empty texts from a list; 0 and false stay. */
function execute({ list }: { list: unknown[] }): unknown[] {
  return list.filter((value) => value !== null && value !== undefined && value !== "");
}
