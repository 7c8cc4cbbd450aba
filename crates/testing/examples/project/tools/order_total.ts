/** What an order costs, with the discount that its customer has. */
type Item = { sku: string; price: number; count: number };

export async function execute({ items, customer }: { items: Item[]; customer?: string }) {
  if (items.length === 0) throw new RangeError("an order has at least one item");
  const sum = items.reduce((total, { price, count }) => total + price * count, 0);
  if (customer === undefined) return { total: sum, discount: 0 };
  const answer = await fetch(`https://shop.example/customers/${customer}`);
  const { discount } = answer.ok ? await answer.json() : { discount: 0 };
  return { total: Math.round(sum * (100 - discount)) / 100, discount };
}
