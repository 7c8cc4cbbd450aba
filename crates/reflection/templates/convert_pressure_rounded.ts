const PASCALS: Record<string, number> = {
  pascal: 1,
  hectopascal: 100,
  kilopascal: 1000,
  megapascal: 1e6,
  bar: 100000,
  atmosphere: 101325,
  psi: 6894.757293168361,
  millimetre_of_mercury: 133.322387415,
  torr: 101325 / 760,
};

function unit(name: string): number {
  if (!Object.hasOwn(PASCALS, name)) throw new Error(`unknown unit of pressure "${name}"; expected one of ${Object.keys(PASCALS).join(", ")}`);
  return PASCALS[name];
}

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) throw new Error("digits must be an integer from 0 to 12");
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Number((Math.abs(value) * scale).toPrecision(15)))) / scale || 0;
}

/** Converts a pressure from one unit to another, rounded half away from zero to a number of decimals. The factors are those of the international definitions. */
function execute({ value, from, to, digits }: { value: number; from: string; to: string; digits: number }): number {
  const result = round(Number(((value * unit(from)) / unit(to)).toPrecision(15)), digits);
  if (!Number.isFinite(result)) throw new Error("the pressure must be a finite number, and its conversion not too large for one");
  return result;
}
