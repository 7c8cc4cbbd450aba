const LITRES: Record<string, number> = {
  millilitre: 0.001,
  centilitre: 0.01,
  decilitre: 0.1,
  litre: 1,
  cubic_metre: 1000,
  us_gallon: 3.785411784,
  us_quart: 0.946352946,
  us_pint: 0.473176473,
  us_cup: 0.2365882365,
  us_fluid_ounce: 0.0295735295625,
  us_tablespoon: 0.01478676478125,
  us_teaspoon: 0.00492892159375,
  imperial_gallon: 4.54609,
  imperial_pint: 0.56826125,
  imperial_fluid_ounce: 0.0284130625,
  cubic_foot: 28.316846592,
  cubic_inch: 0.016387064,
  japanese_cup: 0.2,
  metric_tablespoon: 0.015,
  metric_teaspoon: 0.005,
  oil_barrel: 158.987294928,
};

function unit(name: string): number {
  if (!Object.hasOwn(LITRES, name)) throw new Error(`unknown unit of volume "${name}"; expected one of ${Object.keys(LITRES).join(", ")}`);
  return LITRES[name];
}

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) throw new Error("digits must be an integer from 0 to 12");
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.round(Number((Math.abs(value) * scale).toPrecision(15)))) / scale || 0;
}

/** Converts a volume from one unit to another, rounded half away from zero to a number of decimals. Gallon, quart, pint, cup, fluid ounce, tablespoon and teaspoon are the US customary ones unless named imperial. */
function execute({ value, from, to, digits }: { value: number; from: string; to: string; digits: number }): number {
  const result = round(Number(((value * unit(from)) / unit(to)).toPrecision(15)), digits);
  if (!Number.isFinite(result)) throw new Error("the volume must be a finite number, and its conversion not too large for one");
  return result;
}
