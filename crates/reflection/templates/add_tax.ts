/** Adds a tax in percent to a price. */
function execute({ price, percent }: { price: number; percent: number }): number {
  if (!(price >= 0 && Number.isFinite(price))) throw new Error("price must be a number of at least 0");
  if (!(percent >= 0 && Number.isFinite(percent))) throw new Error("percent must be a number of at least 0");
  return (price * (100 + percent)) / 100;
}
