/** Writes JSON text without whitespace between its parts. */
function execute({ json }: { json: string }): string {
  return JSON.stringify(JSON.parse(json));
}
