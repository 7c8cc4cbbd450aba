/** Computes what percentage a part is of a whole (15 of 60 is 25). */
function execute({ part, whole }: { part: number; whole: number }): number {
  if (!Number.isFinite(part)) throw new Error("part must be a finite number");
  if (!Number.isFinite(whole)) throw new Error("whole must be a finite number");
  if (whole === 0) throw new Error("whole is 0; expected another number");
  return (part / whole) * 100;
}
