/** Finds the modes: the numbers that occur most often, all of them on a tie, in order of first occurrence. */
function execute({ numbers }: { numbers: number[] }): number[] {
  if (numbers.length === 0) throw new Error("there are no numbers to find the mode of; expected at least one");
  const counts = new Map<number, number>();
  for (const x of numbers) counts.set(x, (counts.get(x) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...counts.keys()].filter((x) => counts.get(x) === most);
}
