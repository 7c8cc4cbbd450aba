/** Builds a query string, without "?", from an object; a list gives the name several times, null and undefined nothing. */
function execute({ object }: { object: Record<string, unknown> }): string {
  const pair = (name: string, value: unknown): string => {
    if (typeof value === "object") throw new Error(`"${name}" must be a text, number, boolean or a list of these`);
    return `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
  };
  return Object.entries(object)
    .filter(([, value]) => value !== null && value !== undefined)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((v: unknown) => pair(name, v)))
    .join("&");
}
