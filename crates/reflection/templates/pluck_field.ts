/** Takes a field of every record, in order. */
function execute({ records, key }: { records: Record<string, unknown>[]; key: string }): unknown[] {
  return records.map((record, i) => {
    if (!Object.hasOwn(record, key) || record[key] === undefined) throw new Error(`record ${i + 1} has no field "${key}"`);
    return record[key];
  });
}
