/** Interleaves two lists, beginning with the first; the rest of the longer one follows. */
function execute({ first, second }: { first: unknown[]; second: unknown[] }): unknown[] {
  return Array.from({ length: Math.max(first.length, second.length) }, (_, i) => [...first.slice(i, i + 1), ...second.slice(i, i + 1)]).flat(1);
}
