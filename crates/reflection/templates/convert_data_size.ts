const EXPONENTS: Record<string, number> = { kilo: 1, mega: 2, giga: 3, tera: 4, kibi: 1, mebi: 2, gibi: 3, tebi: 4 };

function bytes(unit: string, base: number): number {
  if (unit === "byte") return 1;
  if (unit === "bit") return 1 / 8;
  const prefix = unit.replace("byte", "");
  if (!Object.hasOwn(EXPONENTS, prefix) || unit !== prefix + "byte") throw new Error(`unknown unit "${unit}"; expected bit, byte, kilobyte, kibibyte, megabyte, mebibyte, …`);
  return (prefix.endsWith("bi") ? 1024 : base) ** EXPONENTS[prefix];
}

/** Converts a data size between bits, bytes, kilobytes (of `base` bytes), kibibytes (of 1024 bytes) and so on up to terabytes, to 15 significant digits. */
function execute({ value, from, to, base }: { value: number; from: string; to: string; base: number }): number {
  if (base !== 1000 && base !== 1024) throw new Error("base, the number of bytes in a kilobyte, must be 1000 or 1024");
  if (!(value >= 0)) throw new Error("a data size must be a number that is not negative");
  const result = Number(((value * bytes(from, base)) / bytes(to, base)).toPrecision(15));
  if (!Number.isFinite(result)) throw new Error("the data size is too large");
  return result;
}
