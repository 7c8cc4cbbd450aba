/** Keeps the records whose field, as text, is exactly the given value. */
function execute({ records, key, value }: { records: Record<string, unknown>[]; key: string; value: string }): Record<string, unknown>[] {
  return records.filter((record) => record[key] !== undefined && String(record[key]) === value);
}
