// Calls a template with inputs that are made from its examples, and returns what does not hold of the results.
// Before this stand `template`, the function, `examples`, their parameters, and `properties`, pairs of an expression's text and function.

type Parameters = Record<string, unknown>;

const pick = <T>(items: T[]): T => items[Math.floor(Math.random() * items.length)];
const texts = ["", " ", "a", "Añb 漢字 🙂", 'x,"y"\n\r\nz', "-1", "0.5", "Ünïcödé", "a b  c", "<b>&amp;</b>", "{name}", "2024-02-29"];
const numbers = [0, 1, -1, 2, 3, 7, 10, 0.5, -2.25, 100, 365, 1e6, 12345.678];

function changed(value: unknown): unknown {
  if (typeof value === "number") return pick([value, value, value + 1, -value, value * 2, pick(numbers), Math.floor(Math.random() * 2000) - 1000]);
  if (typeof value === "string") {
    const signs = [...value];
    const cut = signs.slice(0, Math.floor(Math.random() * (signs.length + 1))).join("");
    return pick([value, value, cut, value + value, value + " " + pick(texts), signs.reverse().join(""), value.toUpperCase(), pick(texts)]);
  }
  if (typeof value === "boolean") return Math.random() < 0.5;
  if (Array.isArray(value)) {
    const items = value.map((item) => (Math.random() < 0.6 ? changed(item) : item)).filter(() => Math.random() < 0.85);
    return Math.random() < 0.5 ? items : items.concat(structuredClone(items)).sort(() => Math.random() - 0.5);
  }
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).filter(() => Math.random() < 0.95);
    return Object.fromEntries(entries.map(([key, item]) => [key, changed(item)]));
  }
  return value;
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (value !== null && typeof value === "object") return Object.values(value).every(isJson);
  return value === null || typeof value === "string" || typeof value === "boolean";
}

function execute({ settings }: { settings: string[] }): { returned: number; faults: string[] } {
  const faults: string[] = [];
  let returned = 0;
  for (let round = 0; round < 300 && faults.length < 3; round++) {
    const parameters: Parameters = structuredClone(pick(examples));
    if (round >= examples.length) {
      for (const [name, value] of Object.entries(parameters)) {
        // Texts that are settings have few sensible values: those of the examples.
        if (!settings.includes(name)) parameters[name] = changed(value);
      }
    }
    const before = JSON.stringify(parameters);
    let result: unknown;
    try {
      result = template(parameters);
    } catch (error) {
      const engine = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
      if (engine) faults.push(`${error} for ${before}`);
      continue;
    }
    returned++;
    if (JSON.stringify(parameters) !== before) faults.push(`its parameters were changed: ${before}`);
    if (!isJson(result)) faults.push(`the result is not JSON: ${JSON.stringify(result)} for ${before}`);
    for (const [text, holds] of properties) {
      let is: unknown = false;
      try {
        is = holds(structuredClone(result), parameters);
      } catch (error) {
        is = error;
      }
      if (is !== true) faults.push(`${text} is ${is}: ${JSON.stringify(result)} for ${before}`);
    }
  }
  return { returned, faults };
}
