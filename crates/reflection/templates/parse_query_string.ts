/** Parses a query string, with or without "?", or the one of a URL; "+" is a space. */
function execute({ text }: { text: string }): Record<string, string | string[]> {
  const whole = text.split("#")[0];
  const mark = whole.indexOf("?");
  if (mark < 0 && whole.includes("://")) return {};
  const decode = (part: string): string => decodeURIComponent(part.replaceAll("+", " "));
  const values = new Map<string, string[]>();
  for (const part of whole.slice(mark + 1).split("&").filter((p) => p !== "")) {
    const [name, ...rest] = part.split("=");
    values.set(decode(name), [...(values.get(decode(name)) ?? []), decode(rest.join("="))]);
  }
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
}
