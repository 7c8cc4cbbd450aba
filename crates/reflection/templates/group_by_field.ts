/** Groups records by the value of a field (as text; "undefined" if a record lacks it); order is kept inside a group. */
function execute({ records, key }: { records: Record<string, unknown>[]; key: string }): Record<string, Record<string, unknown>[]> {
  const groups = new Map<string, Record<string, unknown>[]>();
  for (const record of records) {
    const value = String(record[key]);
    groups.set(value, [...(groups.get(value) ?? []), record]);
  }
  return Object.fromEntries(groups);
}
