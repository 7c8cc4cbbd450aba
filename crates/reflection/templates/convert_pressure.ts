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

/** Converts a pressure from one unit to another, to 15 significant digits. The factors are those of the international definitions. */
function execute({ value, from, to }: { value: number; from: string; to: string }): number {
  const result = Number(((value * unit(from)) / unit(to)).toPrecision(15));
  if (!Number.isFinite(result)) throw new Error("the pressure must be a finite number, and its conversion not too large for one");
  return result;
}
