/** Checks whether a text is valid JSON. */
function execute({ text }: { text: string }): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
