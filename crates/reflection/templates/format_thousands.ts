/** Writes a number with commas as thousands separators (1,234,567.89). */
function execute({ number, group }: { number: number; group: number }): string {
  if (!Number.isInteger(group) || group < 1) throw new Error("group must be a whole number of at least 1");
  if (!Number.isFinite(number) || Math.abs(number) >= 1e21) throw new Error("number must be a finite number below 1e21");
  let text = String(Math.abs(number));
  const [mantissa, exponent] = text.split("e-");
  if (exponent !== undefined) text = "0." + "0".repeat(Number(exponent) - 1) + mantissa.replace(".", "");
  const [whole, fraction] = text.split(".");
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= group) groups.unshift(whole.slice(Math.max(0, end - group), end));
  return (number < 0 ? "-" : "") + groups.join(",") + (fraction === undefined ? "" : "." + fraction);
}
