const SQUARE_METRES: Record<string, number> = {
  square_millimetre: 1e-6,
  square_centimetre: 1e-4,
  square_metre: 1,
  hectare: 10000,
  square_kilometre: 1e6,
  square_inch: 0.00064516,
  square_foot: 0.09290304,
  square_yard: 0.83612736,
  acre: 4046.8564224,
  square_mile: 2589988.110336,
  tsubo: 400 / 121,
  mu: 2000 / 3,
};

function unit(name: string): number {
  if (!Object.hasOwn(SQUARE_METRES, name)) throw new Error(`unknown unit of area "${name}"; expected one of ${Object.keys(SQUARE_METRES).join(", ")}`);
  return SQUARE_METRES[name];
}

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) throw new Error("digits must be an integer from 0 to 12");
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Number((Math.abs(value) * scale).toPrecision(15)))) / scale || 0;
}

/** Converts an area from one unit to another, rounded half away from zero to a number of decimals. The factors are those of the international definitions. */
function execute({ value, from, to, digits }: { value: number; from: string; to: string; digits: number }): number {
  const result = round(Number(((value * unit(from)) / unit(to)).toPrecision(15)), digits);
  if (!Number.isFinite(result)) throw new Error("the area must be a finite number, and its conversion not too large for one");
  return result;
}
