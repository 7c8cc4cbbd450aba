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

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) throw new Error("digits must be an integer from 0 to 12");
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Number((Math.abs(value) * scale).toPrecision(15)))) / scale || 0;
}

/** Converts an angle from one unit to another, rounded half away from zero to a number of decimals. */
function execute({ value, from, to, digits }: { value: number; from: string; to: string; digits: number }): number {
  const result = round(value * (unit(from) / unit(to)), digits);
  if (!Number.isFinite(result)) throw new Error("the angle must be a finite number, and its conversion not too large for one");
  return result;
}
