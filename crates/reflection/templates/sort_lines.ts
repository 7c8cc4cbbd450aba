/** Sorts the lines of a text by code units, ascending or descending. */
function execute({ text, order }: { text: string; order: string }): string {
  if (order !== 'ascending' && order !== 'descending') throw new Error(`order is "${order}"; expected ascending or descending`);
  const sorted = text.split(/\r\n|\r|\n/u).sort();
  return (order === 'ascending' ? sorted : sorted.reverse()).join('\n');
}
