/** Averages a field of numbers for each value of another field. */
function execute({ records, key, value }: { records: Record<string, unknown>[]; key: string; value: string }): Record<string, number> {
  const groups = new Map<string, number[]>();
  for (const record of records) {
    const number = record[value];
    if (typeof number !== "number") throw new Error(`every record needs a number in "${value}"`);
    groups.set(String(record[key]), [...(groups.get(String(record[key])) ?? []), number]);
  }
  const results = [...groups].map(([name, values]): [string, number] => {
    const total = values.reduce((a, b) => a + b, 0);
    return [name, total / values.length];
  });
  return Object.fromEntries(results);
}
