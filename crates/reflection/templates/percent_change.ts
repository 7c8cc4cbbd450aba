/** Computes the change from an old to a new value in percent of the size of the old one (50 to 60 is 20). */
function execute({ from, to }: { from: number; to: number }): number {
  if (!Number.isFinite(from)) throw new Error("from must be a finite number");
  if (!Number.isFinite(to)) throw new Error("to must be a finite number");
  if (from === 0) throw new Error("from is 0; expected another value, as no percentage of 0 is a change");
  return ((to - from) / Math.abs(from)) * 100;
}
