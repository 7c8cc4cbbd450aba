/** Makes an object of records, keyed by a field whose values must differ. */
function execute({ records, key }: { records: Record<string, unknown>[]; key: string }): Record<string, Record<string, unknown>> {
  const index = new Map<string, Record<string, unknown>>();
  for (const record of records) {
    const value = record[key];
    if (value === undefined || value === null) throw new Error(`every record needs the field "${key}"`);
    if (index.has(String(value))) throw new Error(`two records have the ${key} "${String(value)}"; each is expected once`);
    index.set(String(value), record);
  }
  return Object.fromEntries(index);
}
