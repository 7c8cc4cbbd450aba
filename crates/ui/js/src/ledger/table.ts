// The numbers behind the plots: CSV files of this server.
import { csvParseRows } from "d3-dsv";

/** A table of text: its columns have names. */
export interface Table {
  /** Returns the index of a column. Throws if no column has this name. */
  column(name: string): number;
  rows: string[][];
}

const tables = new Map<string, Promise<Table>>();

/** Fetches a CSV file, once for all of the figures that plot it. */
export function load(url: string): Promise<Table> {
  const known = tables.get(url);
  if (known) return known;
  const table = fetchTable(url);
  tables.set(url, table);
  return table;
}

async function fetchTable(url: string): Promise<Table> {
  const answer = await fetch(url, { headers: { accept: "text/csv" } });
  if (!answer.ok) throw new Error(`${url}: status ${answer.status}`);
  const [header = [], ...rows] = csvParseRows(await answer.text());
  const column = (name: string) => {
    const index = header.indexOf(name);
    if (index < 0) throw new Error(`${url}: no column ${name}`);
    return index;
  };
  return { column, rows };
}

/** Parses a cell. An empty cell is a missing value: NaN. */
export function parseNumber(cell: string | undefined): number {
  return cell === undefined || cell.trim() === "" ? NaN : Number(cell);
}
