/** Extracts the ISO dates (YYYY-MM-DD) from a text, in order; dates that do not exist are left out. */
function execute({ text, unique }: { text: string; unique: boolean }): string[] {
  const found = (text.match(/[0-9]+(?:-[0-9]+)*/gu) ?? []).filter(candidate => {
    if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u.test(candidate)) return false;
    const time = Date.parse(`${candidate}T00:00:00Z`);
    return !Number.isNaN(time) && new Date(time).toISOString().startsWith(candidate);
  });
  return unique ? [...new Set(found)] : found;
}
