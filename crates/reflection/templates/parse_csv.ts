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

/** Parses a table with a header row into records; all cells are texts. */
function execute({ text }: { text: string }): Record<string, string>[] {
  return parseRecords(text, ",");
}
