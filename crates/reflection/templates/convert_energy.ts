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

/** Converts an energy from one unit to another, to 15 significant digits. A calorie is the thermochemical one of 4.184 J. */
function execute({ value, from, to }: { value: number; from: string; to: string }): number {
  const result = Number(((value * unit(from)) / unit(to)).toPrecision(15));
  if (!Number.isFinite(result)) throw new Error("the energy must be a finite number, and its conversion not too large for one");
  return result;
}
