const METRES: Record<string, number> = {
  millimetre: 0.001,
  centimetre: 0.01,
  metre: 1,
  kilometre: 1000,
  inch: 0.0254,
  foot: 0.3048,
  yard: 0.9144,
  mile: 1609.344,
  nautical_mile: 1852,
  micrometre: 1e-6,
  nanometre: 1e-9,
  light_year: 9460730472580800,
  shaku: 10 / 33,
  chinese_li: 500,
};

function unit(name: string): number {
  if (!Object.hasOwn(METRES, name)) throw new Error(`unknown unit of length "${name}"; expected one of ${Object.keys(METRES).join(", ")}`);
  return METRES[name];
}

/** Converts a length from one unit to another, to 15 significant digits. The factors are those of the international definitions. */
function execute({ value, from, to }: { value: number; from: string; to: string }): number {
  const result = Number(((value * unit(from)) / unit(to)).toPrecision(15));
  if (!Number.isFinite(result)) throw new Error("the length must be a finite number, and its conversion not too large for one");
  return result;
}
