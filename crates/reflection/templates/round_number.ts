function round(value: number, digits: number): number {
  const [mantissa, exponent] = String(Math.abs(value)).split("e");
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent ?? 0) + digits}`));
  const [m, e] = String(shifted).split("e");
  const size = Number(`${m}e${Number(e ?? 0) - digits}`);
  return value < 0 && size > 0 ? -size : size;
}

/** Rounds a number to a number of decimal places, halves away from zero. */
function execute({ number, digits }: { number: number; digits: number }): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 15) throw new Error("digits must be a whole number from 0 to 15");
  if (!Number.isFinite(number)) throw new Error("number must be a finite number");
  return round(number, digits);
}
