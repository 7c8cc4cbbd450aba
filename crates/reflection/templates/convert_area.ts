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

/** Converts an area from one unit to another, to 15 significant digits. The factors are those of the international definitions. */
function execute({ value, from, to }: { value: number; from: string; to: string }): number {
  const result = Number(((value * unit(from)) / unit(to)).toPrecision(15));
  if (!Number.isFinite(result)) throw new Error("the area must be a finite number, and its conversion not too large for one");
  return result;
}
