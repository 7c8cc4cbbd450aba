const compare = (a: unknown, b: unknown): number => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [x, y] = [String(a), String(b)];
  return x.toLowerCase() < y.toLowerCase() ? -1 : x.toLowerCase() > y.toLowerCase() ? 1 : x < y ? -1 : x > y ? 1 : 0;
};

/** Sorts records by a field: numbers by size, anything else as text ignoring case. Stable; records without the field come last. */
function execute({ records, key, order }: { records: Record<string, unknown>[]; key: string; order: string }): Record<string, unknown>[] {
  if (order !== "ascending" && order !== "descending") throw new Error("order must be \"ascending\" or \"descending\"");
  const has = records.filter((record) => record[key] !== undefined && record[key] !== null);
  const lacks = records.filter((record) => record[key] === undefined || record[key] === null);
  const allNumbers = has.every((record) => typeof record[key] === "number");
  const by = (a: Record<string, unknown>, b: Record<string, unknown>): number =>
    allNumbers ? compare(a[key], b[key]) : compare(String(a[key]), String(b[key]));
  return [...has.sort((a, b) => (order === "ascending" ? by(a, b) : by(b, a))), ...lacks];
}
