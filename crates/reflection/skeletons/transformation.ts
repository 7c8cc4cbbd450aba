type Fields = Record<string, unknown>;
type Params = { text: string; from: string; to: string; values: string };

const SEPARATORS = new Map([["csv", ","], ["tsv", "\t"]]);
const LINE_END = "\n";

/** Rows of CSV or TSV (RFC 4180): a quoted cell may hold separators, quotes and line ends. */
function readRows(text: string, separator: string): string[][] {
  const rows = [[""]];
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const row = rows[rows.length - 1];
    const doubled = quoted && text[at] === '"' && text[at + 1] === '"';
    if (doubled) at++;
    if (text[at] === '"' && !doubled && (quoted || row[row.length - 1] === "")) quoted = !quoted;
    else if (text[at] === separator && !quoted) row.push("");
    else if (text[at] === LINE_END && !quoted) rows.push([""]);
    else row[row.length - 1] += text[at];
  }
  if (quoted) throw new Error("a quoted cell is not closed");
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}

/** Lines such as `key: value` or `key=value`; a line that begins with `#` is a comment. */
function readPairs(block: string): Fields {
  const lines = block.split(LINE_END).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const pairs = lines.map((line) => {
    const at = line.search(/[:=]/);
    if (at < 1) throw new Error("a line is no pair of key and value: " + line);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

/** Whether a value can be passed on as JSON. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value);
  if (value === null || typeof value !== "object") return true;
  return depth < 32 && Object.entries(value).flat().every((part) => isPlain(part, depth + 1));
}

function readJson(text: string): Fields[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error("the text is no JSON: " + error);
  }
  if (!isPlain(value, 0)) throw new Error("the JSON has a number, a letter or a depth that cannot be passed on");
  const items: unknown[] = Array.isArray(value) ? value : [value];
  const isRecord = (item: unknown) => item !== null && typeof item === "object" && !Array.isArray(item);
  return items.map((item) => (isRecord(item) ? { ...(item as Fields) } : { value: item }));
}

/** The records of a text, and their columns in order. */
function read(text: string, from: string): { columns: string[]; records: Fields[] } {
  const separator = SEPARATORS.get(from);
  if (separator) {
    const [columns = [], ...rows] = readRows(text, separator);
    const wrong = rows.find((row) => row.length > columns.length);
    if (wrong) throw new Error("a row has more cells than there are columns: " + wrong);
    if (new Set(columns).size < columns.length) throw new Error("two columns have the same name: " + columns);
    const record = (row: string[]) => Object.fromEntries(columns.map((name, at) => [name, row[at] ?? ""]));
    return { columns, records: rows.map(record) };
  }
  const lines = () => text.split(LINE_END).filter((line) => line !== "").map((line) => ({ line }));
  const blocks = () => text.split(LINE_END + LINE_END).map(readPairs);
  const records = from === "json" ? readJson(text) : from === "lines" ? lines() : blocks();
  const filled = records.filter((record) => from !== "key-value" || Object.keys(record).length > 0);
  return { columns: [...new Set(filled.flatMap((record) => Object.keys(record)))], records: filled };
}

/** Reads a text that looks like a number or a date as one; anything else stays as it is. */
function readValue(value: unknown, values: string): unknown {
  if (typeof value !== "string" || values === "text") return value;
  const isNumber = /^-?(?:0|[1-9][0-9]{0,14})(?:[.][0-9]{1,15})?$/.test(value);
  if (values === "numbers") return isNumber ? Number(value) + 0 : value;
  const date = /^([0-9]{4})[-/.年]([0-9]{1,2})[-/.月]([0-9]{1,2})日?$/.exec(value);
  const isWithin = (part: string, most: number) => Number(part) >= 1 && Number(part) <= most;
  if (!date || !isWithin(date[2], 12) || !isWithin(date[3], 31)) return value;
  return date.slice(1).map((part) => part.padStart(2, "0")).join("-");
}

function write(columns: string[], records: Fields[], to: string): string {
  const cell = (record: Fields, name: string): string => {
    const value = Object.hasOwn(record, name) ? (record[name] ?? "") : "";
    return typeof value === "string" ? value : JSON.stringify(value);
  };
  const separator = SEPARATORS.get(to);
  const isOdd = (text: string) => ['"', LINE_END, separator ?? LINE_END].some((odd) => text.includes(odd));
  const quoted = (text: string) => (isOdd(text) ? '"' + text.split('"').join('""') + '"' : text);
  if (to === "json") return JSON.stringify(records);
  if (separator && columns.length > 0) {
    const rows = [columns, ...records.map((record) => columns.map((name) => cell(record, name)))];
    return rows.map((row) => row.map(quoted).join(separator)).join(LINE_END);
  }
  const label = (name: string) => (to === "lines" ? "" : name + ": ");
  const parts = (record: Fields) => columns.filter((name) => Object.hasOwn(record, name)).map((name) =>
    label(name) + cell(record, name).split(LINE_END).join(" "));
  const [between, after] = to === "lines" ? [" ", LINE_END] : [LINE_END, LINE_END + LINE_END];
  return records.map((record) => parts(record).join(between)).join(after);
}

/** Converts text from one format to another, and returns the new text and the records in it. */
function execute({ text, from, to, values }: Params): { text: string; records: Fields[] } {
  const table = read(text.replaceAll("\r\n", LINE_END).replace(/^\uFEFF/, ""), from);
  const records = table.records.map((record) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, readValue(value, values)])),
  );
  return { text: write(table.columns, records, to), records };
}
