/** Flattens nested lists into one list, at every depth. */
function execute({ list }: { list: unknown[] }): unknown[] {
  return list.flatMap((value) => (Array.isArray(value) ? execute({ list: value }) : [value]));
}
