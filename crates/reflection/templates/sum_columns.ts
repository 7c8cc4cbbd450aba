/** Sums each column of a matrix given by its rows. */
function execute({ matrix }: { matrix: number[][] }): number[] {
  const width = matrix[0]?.length ?? 0;
  if (!matrix.every((row) => row.length === width)) throw new Error("all rows must have the same length");
  return Array.from({ length: width }, (_, i) => matrix.reduce((sum, row) => sum + row[i], 0));
}
