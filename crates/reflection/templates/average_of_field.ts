/** Averages the numbers in a field of records. */
function execute({ records, key }: { records: Record<string, unknown>[]; key: string }): number {
  const values = records.map((record) => record[key]);
  if (!values.every((value): value is number => typeof value === "number")) throw new Error(`every record needs a number in "${key}"`);
  if (values.length === 0) throw new Error("there are no records to average; at least one is expected");
  return values.reduce((a, b) => a + b, 0) / values.length;
}
