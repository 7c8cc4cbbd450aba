const RADIX: Record<string, number> = { binary: 2, octal: 8, hexadecimal: 16 };

/** Writes a whole number in binary, octal or hexadecimal digits (lower case, no prefix). */
function execute({ number, to }: { number: number; to: string }): string {
  if (!Number.isSafeInteger(number)) throw new Error("number must be a whole number");
  const radix = RADIX[to];
  if (radix === undefined) throw new Error("to must be binary, octal or hexadecimal");
  return number.toString(radix);
}
