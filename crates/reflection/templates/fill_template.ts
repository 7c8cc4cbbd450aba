/** Fills the placeholders {name} or {{name}} of a text with the values of an object. */
function execute({ template, values, unknown }: { template: string; values: Record<string, unknown>; unknown: string }): string {
  if (!['error', 'keep', 'empty'].includes(unknown)) throw new Error(`unknown is "${unknown}"; expected error, keep or empty`);
  return template.replace(/\{\{\s*([\p{L}_][\p{L}\p{N}_]*)\s*\}\}|\{([\p{L}_][\p{L}\p{N}_]*)\}/gu, (whole: string, double?: string, single?: string) => {
    const name = double ?? single ?? '';
    if (Object.hasOwn(values, name)) return String(values[name]);
    if (unknown === 'error') throw new Error(`there is no value for the placeholder "${name}"; expected one in values`);
    return unknown === 'keep' ? whole : '';
  });
}
