/** Splits a bill with a tip in percent evenly among people: what each pays. */
function execute({ bill, people, tip_percent }: { bill: number; people: number; tip_percent: number }): number {
  if (!(bill >= 0 && tip_percent >= 0 && Number.isFinite(bill * tip_percent))) throw new Error("bill and tip_percent must be numbers of at least 0");
  if (!Number.isInteger(people) || people < 1) throw new Error("people must be a whole number of at least 1");
  return (bill * (100 + tip_percent)) / 100 / people;
}
