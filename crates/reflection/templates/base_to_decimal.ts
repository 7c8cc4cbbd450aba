const DIGITS: Record<string, [number, RegExp]> = { binary: [2, /^(0b)?[01]+$/], octal: [8, /^(0o)?[0-7]+$/], hexadecimal: [16, /^(0x)?[0-9a-f]+$/] };

/** Reads a whole number written in binary, octal or hexadecimal digits. */
function execute({ digits, from }: { digits: string; from: string }): number {
  const base = Object.hasOwn(DIGITS, from) ? DIGITS[from] : undefined;
  if (base === undefined) throw new Error("from must be binary, octal or hexadecimal");
  const text = digits.trim().toLowerCase();
  if (!base[1].test(text)) throw new Error(`digits must be a whole number in ${from}`);
  const number = Number.parseInt(text.replace(/^0[box]/, ""), base[0]);
  if (!Number.isSafeInteger(number)) throw new Error("the number is too large; expected at most 9007199254740991");
  return number;
}
