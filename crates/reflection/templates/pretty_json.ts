/** Formats JSON text with an indentation. */
function execute({ json, indent }: { json: string; indent: number }): string {
  if (!Number.isInteger(indent) || indent < 0 || indent > 10) throw new Error("indent must be a whole number from 0 to 10");
  return JSON.stringify(JSON.parse(json), null, indent);
}
