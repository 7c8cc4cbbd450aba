const FORMATS: Record<string, [RegExp, number, number, number]> = {
  us: [/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/, 3, 1, 2],
  eu: [/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/, 3, 2, 1],
  slash: [/^(\d{4})\/(\d{1,2})\/(\d{1,2})$/, 1, 2, 3],
  dot: [/^(\d{1,2})\.(\d{1,2})\.(\d{4})$/, 3, 2, 1],
  compact: [/^(\d{4})(\d{2})(\d{2})$/, 1, 2, 3],
  iso: [/^(\d{4})-(\d{2})-(\d{2})$/, 1, 2, 3],
};
const WRITERS: Record<string, (year: string, month: string, day: string) => string> = {
  us: (year, month, day) => `${month}/${day}/${year}`,
  eu: (year, month, day) => `${day}/${month}/${year}`,
  slash: (year, month, day) => `${year}/${month}/${day}`,
  dot: (year, month, day) => `${day}.${month}.${year}`,
  compact: (year, month, day) => `${year}${month}${day}`,
  iso: (year, month, day) => `${year}-${month}-${day}`,
};

/** Rewrites a date from one format to another: us MM/DD/YYYY, eu DD/MM/YYYY, slash YYYY/MM/DD, dot DD.MM.YYYY, compact YYYYMMDD, iso YYYY-MM-DD. */
function execute({ date, from, to }: { date: string; from: string; to: string }): string {
  if (!Object.hasOwn(FORMATS, from) || !Object.hasOwn(FORMATS, to)) throw new Error("a format must be us, eu, slash, dot, compact or iso");
  const [pattern, y, m, d] = FORMATS[from];
  const parts = pattern.exec(date.trim());
  const iso = parts ? `${parts[y]}-${parts[m].padStart(2, "0")}-${parts[d].padStart(2, "0")}` : "";
  const time = Date.parse(iso + "T00:00:00Z");
  if (!parts || Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== iso) throw new Error(`"${date}" is not a date of the calendar in the format ${from}`);
  return WRITERS[to](iso.slice(0, 4), iso.slice(5, 7), iso.slice(8));
}
