/** Computes Pearson's correlation coefficient of two lists of numbers of the same length. */
function execute({ x, y }: { x: number[]; y: number[] }): number {
  if (x.length !== y.length) throw new Error("x and y must have the same number of values");
  if (x.length < 2) throw new Error("too few values; expected at least two pairs");
  if (!x.every(Number.isFinite)) throw new Error("x must all be finite numbers");
  if (!y.every(Number.isFinite)) throw new Error("y must all be finite numbers");
  const meanX = x.reduce((sum, v) => sum + v, 0) / x.length;
  const meanY = y.reduce((sum, v) => sum + v, 0) / y.length;
  let xy = 0;
  let xx = 0;
  let yy = 0;
  for (let i = 0; i < x.length; i++) {
    xy += (x[i] - meanX) * (y[i] - meanY);
    xx += (x[i] - meanX) ** 2;
    yy += (y[i] - meanY) ** 2;
  }
  if (x.every((v) => v === x[0]) || y.every((v) => v === y[0]) || xx === 0 || yy === 0) throw new Error("all values are the same; expected values that vary in x and in y");
  return Math.max(-1, Math.min(1, xy / (Math.sqrt(xx) * Math.sqrt(yy))));
}
