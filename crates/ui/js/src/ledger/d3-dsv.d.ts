// The one function of d3-dsv that the ledger calls. The package has no types of its own.
declare module "d3-dsv" {
  /** Parses CSV (RFC 4180). It makes no function out of text, as `csvParse` does: the content security policy forbids that. */
  export function csvParseRows(text: string): string[][];
}
