/** Finds the real roots of a·x² + b·x + c = 0, ascending: none, one or two. */
function execute({ a, b, c }: { a: number; b: number; c: number }): number[] {
  if (!Number.isFinite(a)) throw new Error("a must be a finite number");
  if (!Number.isFinite(b)) throw new Error("b must be a finite number");
  if (!Number.isFinite(c)) throw new Error("c must be a finite number");
  if (a === 0) throw new Error("a is 0; expected another number, as the equation is not quadratic");
  const discriminant = b * b - 4 * a * c;
  if (discriminant < 0) return [];
  if (discriminant === 0) return [b === 0 ? 0 : -b / (2 * a)];
  const q = -(b + (b < 0 ? -1 : 1) * Math.sqrt(discriminant)) / 2;
  return [q / a, c / q].sort((x, y) => x - y);
}
