const METRES_PER_SECOND: Record<string, number> = {
  metre_per_second: 1,
  kilometre_per_hour: 1 / 3.6,
  mile_per_hour: 0.44704,
  knot: 1852 / 3600,
  foot_per_second: 0.3048,
  metre_per_minute: 1 / 60,
};

function unit(name: string): number {
  if (!Object.hasOwn(METRES_PER_SECOND, name)) throw new Error(`unknown unit of speed "${name}"; expected one of ${Object.keys(METRES_PER_SECOND).join(", ")}`);
  return METRES_PER_SECOND[name];
}

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) throw new Error("digits must be an integer from 0 to 12");
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Number((Math.abs(value) * scale).toPrecision(15)))) / scale || 0;
}

/** Converts a speed from one unit to another, rounded half away from zero to a number of decimals. The factors are those of the international definitions. */
function execute({ value, from, to, digits }: { value: number; from: string; to: string; digits: number }): number {
  const result = round(Number(((value * unit(from)) / unit(to)).toPrecision(15)), digits);
  if (!Number.isFinite(result)) throw new Error("the speed must be a finite number, and its conversion not too large for one");
  return result;
}
