/** Computes the price after a discount in percent. */
function execute({ price, percent }: { price: number; percent: number }): number {
  if (!(price >= 0 && Number.isFinite(price))) throw new Error("price must be a number of at least 0");
  if (!(percent >= 0 && percent <= 100)) throw new Error("percent must be from 0 to 100");
  return (price * (100 - percent)) / 100;
}
