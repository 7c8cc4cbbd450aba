/** Converts an ISO 8601 date and time to a Unix timestamp in whole seconds (rounded down) or in milliseconds. A date alone is midnight UTC; a time must say its offset. */
function execute({ datetime, unit }: { datetime: string; unit: string }): number {
  if (unit !== "seconds" && unit !== "milliseconds") throw new Error("the unit must be seconds or milliseconds");
  const form = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/.exec(datetime);
  const day = form ? Date.parse(form[1] + "T00:00:00Z") : NaN;
  const time = form ? Date.parse(datetime) : NaN;
  if (!form || Number.isNaN(time) || Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== form[1]) throw new Error(`"${datetime}" is not an ISO 8601 date and time; expected such as 2024-02-29T12:34:56Z`);
  return unit === "seconds" ? Math.floor(time / 1000) : time;
}
