const GRAMS: Record<string, number> = {
  milligram: 0.001,
  gram: 1,
  kilogram: 1000,
  tonne: 1e6,
  ounce: 28.349523125,
  pound: 453.59237,
  stone: 6350.29318,
  short_ton: 907184.74,
  long_ton: 1016046.9088,
  carat: 0.2,
  troy_ounce: 31.1034768,
  jin: 500,
  kan: 3750,
  momme: 3.75,
};

function unit(name: string): number {
  if (!Object.hasOwn(GRAMS, name)) throw new Error(`unknown unit of mass "${name}"; expected one of ${Object.keys(GRAMS).join(", ")}`);
  return GRAMS[name];
}

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) throw new Error("digits must be an integer from 0 to 12");
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Number((Math.abs(value) * scale).toPrecision(15)))) / scale || 0;
}

/** Converts a mass from one unit to another, rounded half away from zero to a number of decimals. The factors are those of the international definitions. */
function execute({ value, from, to, digits }: { value: number; from: string; to: string; digits: number }): number {
  const result = round(Number(((value * unit(from)) / unit(to)).toPrecision(15)), digits);
  if (!Number.isFinite(result)) throw new Error("the mass must be a finite number, and its conversion not too large for one");
  return result;
}
