/** Counts records for each value of a field (as text; "undefined" if a record lacks it). */
function execute({ records, key }: { records: Record<string, unknown>[]; key: string }): Record<string, number> {
  const counts = new Map<string, number>();
  for (const record of records) counts.set(String(record[key]), (counts.get(String(record[key])) ?? 0) + 1);
  return Object.fromEntries(counts);
}
