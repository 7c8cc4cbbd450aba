const JOULES: Record<string, number> = {
  joule: 1,
  kilojoule: 1000,
  megajoule: 1e6,
  kilocalorie: 4184,
  watt_hour: 3600,
  kilowatt_hour: 3.6e6,
  electronvolt: 1.602176634e-19,
  btu: 1055.05585262,
};

function unit(name: string): number {
  if (!Object.hasOwn(JOULES, name)) throw new Error(`unknown unit of energy "${name}"; expected one of ${Object.keys(JOULES).join(", ")}`);
  return JOULES[name];
}

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) throw new Error("digits must be an integer from 0 to 12");
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Number((Math.abs(value) * scale).toPrecision(15)))) / scale || 0;
}

/** Converts an energy from one unit to another, rounded half away from zero to a number of decimals. A calorie is the thermochemical one of 4.184 J. */
function execute({ value, from, to, digits }: { value: number; from: string; to: string; digits: number }): number {
  const result = round(Number(((value * unit(from)) / unit(to)).toPrecision(15)), digits);
  if (!Number.isFinite(result)) throw new Error("the energy must be a finite number, and its conversion not too large for one");
  return result;
}
