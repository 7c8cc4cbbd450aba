/** Computes the tip on a bill, in percent of it. */
function execute({ bill, percent }: { bill: number; percent: number }): number {
  if (!(bill >= 0 && percent >= 0 && Number.isFinite(bill * percent))) throw new Error("bill and percent must be numbers of at least 0");
  return (bill * percent) / 100;
}
