const DEGREES: Record<string, number> = {
  degree: 1,
  radian: 180 / Math.PI,
  gradian: 0.9,
  arcminute: 1 / 60,
  arcsecond: 1 / 3600,
  revolution: 360,
};

function unit(name: string): number {
  if (!Object.hasOwn(DEGREES, name)) throw new Error(`unknown unit of angle "${name}"; expected one of ${Object.keys(DEGREES).join(", ")}`);
  return DEGREES[name];
}

/** Converts an angle from one unit to another. */
function execute({ value, from, to }: { value: number; from: string; to: string }): number {
  const result = value * (unit(from) / unit(to));
  if (!Number.isFinite(result)) throw new Error("the angle must be a finite number, and its conversion not too large for one");
  return result;
}
