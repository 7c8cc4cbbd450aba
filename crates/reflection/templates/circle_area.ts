/** Computes the area of a circle from its radius. */
function execute({ radius }: { radius: number }): number {
  if (!(radius >= 0 && Number.isFinite(radius))) throw new Error("radius must be a number of at least 0");
  return Math.PI * radius ** 2;
}
