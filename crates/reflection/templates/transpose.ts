/** Transposes a matrix given by its rows. */
function execute({ matrix }: { matrix: unknown[][] }): unknown[][] {
  const width = matrix[0]?.length ?? 0;
  if (!matrix.every((row) => row.length === width)) throw new Error("all rows must have the same length");
  return Array.from({ length: width }, (_, i) => matrix.map((row) => row[i]));
}
