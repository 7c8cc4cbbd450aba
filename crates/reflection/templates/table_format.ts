/** The rows of separated text (RFC 4180: quotes, doubled quotes, line breaks inside quotes, CRLF or LF). */
const parseRows = (text: string, separator: string): string[][] => {
  const rows: string[][] = [];
  let [row, cell, quoted, closed]: [string[], string, boolean, boolean] = [[], "", false, false];
  const endRow = (): void => { rows.push([...row, cell]); [row, cell, closed] = [[], "", false]; };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') cell += text[++i];
      else [quoted, closed] = [false, true];
    } else if (c === '"' && cell === "" && !closed) quoted = true;
    else if (c === separator) { row.push(cell); [cell, closed] = ["", false]; }
    else if (c === "\n" || (c === "\r" && text[i + 1] === "\n")) { if (c === "\r") i++; endRow(); }
    else if (closed) throw new Error(`unexpected character after a closing quote in row ${rows.length + 1}`);
    else cell += c;
  }
  if (quoted) throw new Error("a quote is opened but never closed");
  if (cell !== "" || row.length > 0 || closed) endRow();
  return rows;
};

const parseRecords = (text: string, separator: string): Record<string, string>[] => {
  const [header, ...rows] = parseRows(text.replace(/^\uFEFF/, ""), separator);
  if (header === undefined) throw new Error("the text is empty; a header row is expected");
  return rows.map((row, i) => {
    if (row.length !== header.length) throw new Error(`row ${i + 2} has ${row.length} cells, but the header has ${header.length}`);
    return Object.fromEntries(header.map((name, j) => [name, row[j]]));
  });
};

const writeRows = (rows: unknown[][], separator: string): string => {
  const cell = (value: unknown): string => {
    const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    return text === "" || text.includes(separator) || /["\r\n]/.test(text) ? (text === "" && rows[0].length > 1 ? "" : `"${text.replaceAll('"', '""')}"`) : text;
  };
  return rows.map((row) => row.map(cell).join(separator)).join("\n");
};

/** Converts a table between CSV, TSV and JSON (a list of objects); cells read from CSV and TSV are texts. */
function execute({ text, from, to }: { text: string; from: string; to: string }): string {
  const separators = new Map([["csv", ","], ["tsv", "\t"]]);
  for (const format of [from, to]) if (format !== "json" && !separators.has(format)) throw new Error(`unknown format "${format}"; csv, tsv or json is expected`);
  const data: unknown = from === "json" ? JSON.parse(text) : parseRecords(text, separators.get(from) ?? ",");
  if (!Array.isArray(data) || data.some((record) => typeof record !== "object" || record === null || Array.isArray(record))) throw new Error("the JSON must be a list of objects");
  if (to === "json") return JSON.stringify(data);
  const separator = separators.get(to) ?? ",";
  if (from !== "json") return writeRows(parseRows(text.replace(/^\uFEFF/, ""), separators.get(from) ?? ","), separator);
  const header = [...new Set(data.flatMap((record) => Object.keys(record)))];
  return header.length === 0 ? "" : writeRows([header, ...data.map((record) => header.map((name) => record[name]))], separator);
}
