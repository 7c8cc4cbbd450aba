type Fields = Map<string, unknown>;
type Params = { items: unknown[]; template: string; [shared: string]: unknown };
type Outcome = { index: number; ok: boolean; result?: string; error?: string };

/** The fields of an item; one that is no object has a field `value`. */
function fieldsOf(item: unknown): [string, unknown][] {
  return item !== null && typeof item === "object" && !Array.isArray(item) ? Object.entries(item) : [["value", item]];
}

/** What is done for one item: the template with its fields filled in. */
function step(template: string, fields: Fields): string {
  return template.replace(/[{]([^{}]*)[}]/g, (_, name: string) => {
    const value = fields.get(name) ?? null;
    if (value === null) throw new Error("there is no " + name);
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

/** Does the same step for each item, in order, and says of each how it went. */
function execute({ items, template, ...shared }: Params): { results: Outcome[]; failed: number } {
  const results = items.map((item, index): Outcome => {
    try {
      const fields = new Map([...Object.entries(shared), ...fieldsOf(item)]);
      return { index, ok: true, result: step(template, fields) };
    } catch (error) {
      return { index, ok: false, error: (error as Error).message };
    }
  });
  return { results, failed: results.filter((result) => !result.ok).length };
}
