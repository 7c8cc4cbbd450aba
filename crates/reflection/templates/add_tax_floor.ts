/** Adds a tax in percent to a price and rounds down to a multiple of a unit, by default 1. */
function execute({ price, percent, unit }: { price: number; percent: number; unit: number }): number {
  if (!(price >= 0 && Number.isFinite(price))) throw new Error("price must be a number of at least 0");
  if (!(percent >= 0 && Number.isFinite(percent))) throw new Error("percent must be a number of at least 0");
  if (!(unit > 0)) throw new Error("unit must be a positive number");
  const total = (price * (100 + percent)) / 100;
  return Math.floor(Number((total / unit).toFixed(6))) * unit;
}
