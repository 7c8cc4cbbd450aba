/** Finds the record with the smallest number in a field (the first one, if several). */
function execute({ records, key }: { records: Record<string, unknown>[]; key: string }): Record<string, unknown> {
  if (records.length === 0) throw new Error("there are no records; at least one is expected");
  const number = (record: Record<string, unknown>): number => {
    const value = record[key];
    if (typeof value !== "number") throw new Error(`every record needs a number in "${key}"`);
    return value;
  };
  return records.reduce((best, record) => (number(record) < number(best) ? record : best));
}
