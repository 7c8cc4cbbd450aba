type Operation = "count" | "sum" | "average" | "minimum" | "maximum";
type Params = { records: unknown[]; operation: Operation; by?: string; value?: string };
type Group = { key: string; count: number; result: number | null };

/** The fields of a record; a Map, so that no name of a field is special. */
function fieldsOf(record: unknown, index: number): Map<string, unknown> {
  if (record === null || typeof record !== "object" || Array.isArray(record)) {
    throw new Error("record " + index + " is no object");
  }
  return new Map(Object.entries(record));
}

/** What a group is called; records without the field are in the group with the empty name. */
function keyOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

/** The number in a value; none where it is missing. A text such as "12.5" counts as a number. */
function numbersOf(value: unknown, index: number): number[] {
  if (value === undefined || value === null || value === "") return [];
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) {
    throw new Error("record " + index + " has no number: " + JSON.stringify(value));
  }
  return [number];
}

/** One number of many; null where there are none to take it of. */
function reduce(numbers: number[], count: number, operation: Operation): number | null {
  if (operation === "count") return count;
  if (operation !== "sum" && numbers.length === 0) return null;
  if (operation === "minimum") return numbers.reduce((a, b) => Math.min(a, b));
  if (operation === "maximum") return numbers.reduce((a, b) => Math.max(a, b));
  const sum = numbers.reduce((total, number) => total + number, 0);
  if (!Number.isFinite(sum)) throw new Error("the sum is too large");
  return operation === "sum" ? sum : sum / numbers.length;
}

/** Groups records by a field, and makes one number of each group and of all. */
function execute({ records, operation, by, value }: Params): { groups: Group[]; total: number | null } {
  if (operation !== "count" && value === undefined) {
    throw new Error("to take the " + operation + ", name the field with the numbers in `value`");
  }
  const groups = new Map<string, { count: number; numbers: number[] }>();
  const all: number[] = [];
  records.forEach((record, index) => {
    const fields = fieldsOf(record, index);
    const key = by === undefined ? "all" : keyOf(fields.get(by));
    const group = groups.get(key) ?? { count: 0, numbers: [] };
    const numbers = value === undefined ? [] : numbersOf(fields.get(value), index);
    group.count += 1;
    group.numbers.push(...numbers);
    all.push(...numbers);
    groups.set(key, group);
  });
  const results = [...groups].map(([key, group]) => {
    return { key, count: group.count, result: reduce(group.numbers, group.count, operation) };
  });
  return { groups: results, total: reduce(all, records.length, operation) };
}
