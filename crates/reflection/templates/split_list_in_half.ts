/** Splits a list into halves; the first half gets the middle value. */
function execute({ list }: { list: unknown[] }): [unknown[], unknown[]] {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
}
