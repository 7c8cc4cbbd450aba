type Rule = {
  field: string;
  required?: boolean;
  type?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  oneOf?: unknown[];
};
type Problem = { index: number; field: string; message: string };

const MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isText = (value: unknown): value is string => typeof value === "string";
const isObject = (value: unknown) => value !== null && typeof value === "object" && !Array.isArray(value);

/** What a rule can ask of a value by name. */
const TYPES = new Map<unknown, (value: unknown) => boolean>([
  ["string", isText],
  ["number", (value) => typeof value === "number"],
  ["integer", (value) => Number.isInteger(value)],
  ["boolean", (value) => typeof value === "boolean"],
  ["array", (value) => Array.isArray(value)],
  ["object", isObject],
  ["date", (value) => isText(value) && isDate(value)],
  ["email", (value) => isText(value) && matches(value, "?*@?*.?*") && !/[ ,;]|@.*@/.test(value)],
]);

/** What a rule may have. */
const RULE = new Map<string, (value: unknown) => boolean>([
  ["field", isText],
  ["required", (value) => typeof value === "boolean"],
  ["type", (value) => TYPES.has(value)],
  ["pattern", isText],
  ["minimum", (value) => typeof value === "number"],
  ["maximum", (value) => typeof value === "number"],
  ["oneOf", (value) => Array.isArray(value)],
]);

/** Whether a text is a day of the calendar, such as 2028-02-29. */
function isDate(text: string): boolean {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return false;
  const [year, month, day] = text.split("-").map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : MONTHS[month - 1] ?? 0);
}

/** Whether a text matches a pattern: `*` stands for any letters, `?` for one, `#` for a digit. */
function matches(text: string, pattern: string): boolean {
  const [letters, parts] = [[...text], [...pattern]];
  const isOne = (letter: string, part: string) =>
    part === "?" || part === letter || (part === "#" && letter >= "0" && letter <= "9");
  let [at, part, star, mark] = [0, 0, -1, 0];
  while (at < letters.length) {
    if (parts[part] === "*") [star, mark, part] = [part, at, part + 1];
    else if (part < parts.length && isOne(letters[at], parts[part])) [at, part] = [at + 1, part + 1];
    else if (star >= 0) [mark, at, part] = [mark + 1, mark + 1, star + 1];
    else return false;
  }
  return parts.slice(part).every((rest) => rest === "*");
}

/** The rule, if it has a meaning. */
function checkedRule(given: unknown, index: number): Rule {
  const fail = (what: string) => new Error("rule " + index + " " + what);
  if (!isObject(given)) throw fail("is no object");
  const parts = Object.entries(given as object).filter(([, value]) => value !== null);
  const odd = parts.find(([name, value]) => !RULE.get(name)?.(value));
  if (odd) throw fail("cannot have " + odd[0] + " " + JSON.stringify(odd[1]));
  if (!parts.some(([name]) => name === "field")) throw fail("has no field");
  return Object.fromEntries(parts) as Rule;
}

/** What is wrong with a value; a text or a list is measured by its length. */
function faults(value: unknown, rule: Rule): string[] {
  const { required, type, pattern, minimum, maximum, oneOf } = rule;
  if (value === undefined || value === null || value === "") return required ? ["is missing"] : [];
  if (type !== undefined && !TYPES.get(type)?.(value)) return ["is no " + type];
  const size = isText(value) || Array.isArray(value) ? [...value].length : value;
  const isSized = typeof size === "number";
  const written = JSON.stringify(value);
  const found = [
    pattern !== undefined && !(isText(value) && matches(value, pattern)) && "does not match " + pattern,
    (minimum !== undefined || maximum !== undefined) && !isSized && "cannot be measured",
    minimum !== undefined && isSized && size < minimum && "is below " + minimum,
    maximum !== undefined && isSized && size > maximum && "is above " + maximum,
    oneOf && !oneOf.some((one) => JSON.stringify(one) === written) && "is none of " + JSON.stringify(oneOf),
  ];
  return found.filter(isText);
}

/** Holds each record against each rule, and returns the problems. */
function execute({ records, rules }: { records: unknown[]; rules: unknown[] }) {
  const checked = rules.map(checkedRule);
  const problems: Problem[] = records.flatMap((record, index) => {
    if (!isObject(record)) return [{ index, field: "", message: "is no object" }];
    const fields = new Map(Object.entries(record as object));
    return checked.flatMap((rule) =>
      faults(fields.get(rule.field), rule).map((message) => ({ index, field: rule.field, message })),
    );
  });
  return { valid: problems.length === 0, checked: records.length, problems };
}
