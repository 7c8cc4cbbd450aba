// Numbers, days and names in the language of the page.

const language = document.documentElement.lang || undefined;
const exact = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat(language, { notation: "compact", maximumSignificantDigits: 3 });
const scientific = new Intl.NumberFormat(language, { notation: "scientific", maximumFractionDigits: 1 });
const date = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" });
const day = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
const year = new Intl.DateTimeFormat(language, { year: "numeric", timeZone: "UTC" });
const graphemes = new Intl.Segmenter(language, { granularity: "grapheme" });

/** Numbers from here on are written as powers of ten, if their abbreviation is longer than some characters. */
const MIN_SCIENTIFIC = 1e15;
const MAX_COMPACT = 6;

export const formatNumber = (value: number) => (Number.isNaN(value) ? "–" : exact.format(value));
export const formatDate = (time: Date) => date.format(time);
export const formatDay = (time: Date) => day.format(time);
export const formatYear = (time: Date) => year.format(time);

/** Abbreviates a number for an axis: `1.5M`. Above trillions, many languages have no word, and `18,000,000T` is no abbreviation. */
export function abbreviate(value: number): string {
  const text = compact.format(value);
  return value < MIN_SCIENTIFIC || text.length <= MAX_COMPACT ? text : scientific.format(value);
}

const context = document.createElement("canvas").getContext("2d");

/** The width of text in the font of the page, in pixels. */
export function measure(text: string, fontSize: number): number {
  if (!context) return text.length * fontSize;
  context.font = `${fontSize}px ${getComputedStyle(document.body).fontFamily}`;
  return context.measureText(text).width;
}

/** Cuts text that is wider than a number of pixels, and puts an ellipsis at its end. */
export function truncate(text: string, fontSize: number, width: number): string {
  if (measure(text, fontSize) <= width) return text;
  const parts = [...graphemes.segment(text)].map((part) => part.segment);
  while (parts.length > 1 && measure(`${parts.join("")}…`, fontSize) > width) parts.pop();
  return `${parts.join("").trimEnd()}…`;
}
