/** Computes the hypotenuse of a right triangle from its two legs. */
function execute({ a, b }: { a: number; b: number }): number {
  if (!(a >= 0 && b >= 0 && Number.isFinite(a + b))) throw new Error("a and b must be lengths of at least 0");
  return Math.hypot(a, b);
}
