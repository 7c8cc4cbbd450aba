/** Rotates a list to the left or right; what falls off one end comes in at the other. */
function execute({ list, places, direction }: { list: unknown[]; places: number; direction: string }): unknown[] {
  if (!Number.isInteger(places)) throw new Error("places must be a whole number");
  if (direction !== "left" && direction !== "right") throw new Error("direction must be \"left\" or \"right\"");
  if (list.length === 0) return [];
  const shift = (direction === "left" ? places : -places) % list.length;
  return [...list.slice(shift), ...list.slice(0, shift)];
}
