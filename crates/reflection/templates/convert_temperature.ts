const TO_CELSIUS: Record<string, (degrees: number) => number> = {
  celsius: (degrees) => degrees,
  fahrenheit: (degrees) => ((degrees - 32) * 5) / 9,
  kelvin: (degrees) => degrees - 273.15,
  rankine: (degrees) => ((degrees - 491.67) * 5) / 9,
};
const FROM_CELSIUS: Record<string, (celsius: number) => number> = {
  celsius: (celsius) => celsius,
  fahrenheit: (celsius) => (celsius * 9) / 5 + 32,
  kelvin: (celsius) => celsius + 273.15,
  rankine: (celsius) => (celsius * 9) / 5 + 491.67,
};

function check(scale: string): void {
  if (!Object.hasOwn(TO_CELSIUS, scale)) throw new Error(`unknown temperature scale "${scale}"; expected celsius, fahrenheit, kelvin or rankine`);
}

/** Converts a temperature between celsius, fahrenheit, kelvin and rankine, to 10 decimals. */
function execute({ temperature, from, to }: { temperature: number; from: string; to: string }): number {
  check(from);
  check(to);
  const celsius = TO_CELSIUS[from](temperature);
  if (!(celsius >= -273.15 - 1e-9) || !(celsius < 1e15)) throw new Error("the temperature must be a number, and not below absolute zero");
  return Number(FROM_CELSIUS[to](celsius).toFixed(10)) || 0;
}
