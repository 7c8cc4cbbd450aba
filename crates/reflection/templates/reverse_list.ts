/** Reverses a list. */
function execute({ list }: { list: unknown[] }): unknown[] {
  return [...list].reverse();
}
