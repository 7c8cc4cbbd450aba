/** Parses lines of key=value (spaces around both are dropped, empty lines skipped); of equal keys the last one stands. */
function execute({ text }: { text: string }): Record<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  return Object.fromEntries(lines.map((line): [string, string] => {
    const mark = line.indexOf("=");
    if (mark < 0) throw new Error(`"${line}" has no "="; key=value is expected`);
    return [line.slice(0, mark).trim(), line.slice(mark + 1).trim()];
  }));
}
