/** Of the records with the same value in a field, keeps the first; order is kept. */
function execute({ records, key }: { records: Record<string, unknown>[]; key: string }): Record<string, unknown>[] {
  const seen = new Set<string>();
  return records.filter((record) => {
    const value = JSON.stringify(record[key]) ?? "undefined";
    if (seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}
