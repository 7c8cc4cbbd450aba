const SECONDS: Record<string, number> = {
  nanosecond: 1e-9,
  microsecond: 1e-6,
  millisecond: 0.001,
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86400,
  week: 604800,
};

function unit(name: string): number {
  if (!Object.hasOwn(SECONDS, name)) throw new Error(`unknown unit of duration "${name}"; expected one of ${Object.keys(SECONDS).join(", ")}`);
  return SECONDS[name];
}

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) throw new Error("digits must be an integer from 0 to 12");
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Number((Math.abs(value) * scale).toPrecision(15)))) / scale || 0;
}

/** Converts a duration from one unit to another, rounded half away from zero to a number of decimals. The factors are those of the international definitions. */
function execute({ value, from, to, digits }: { value: number; from: string; to: string; digits: number }): number {
  const result = round(Number(((value * unit(from)) / unit(to)).toPrecision(15)), digits);
  if (!Number.isFinite(result)) throw new Error("the duration must be a finite number, and its conversion not too large for one");
  return result;
}
