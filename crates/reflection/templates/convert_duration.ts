const SECONDS: Record<string, number> = {
  nanosecond: 1e-9,
  microsecond: 1e-6,
  millisecond: 0.001,
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86400,
  week: 604800,
};

function unit(name: string): number {
  if (!Object.hasOwn(SECONDS, name)) throw new Error(`unknown unit of duration "${name}"; expected one of ${Object.keys(SECONDS).join(", ")}`);
  return SECONDS[name];
}

/** Converts a duration from one unit to another, to 15 significant digits. The factors are those of the international definitions. */
function execute({ value, from, to }: { value: number; from: string; to: string }): number {
  const result = Number(((value * unit(from)) / unit(to)).toPrecision(15));
  if (!Number.isFinite(result)) throw new Error("the duration must be a finite number, and its conversion not too large for one");
  return result;
}
