/** Converts a Unix timestamp, in seconds or milliseconds, to an ISO 8601 date and time in UTC with milliseconds. */
function execute({ timestamp, unit }: { timestamp: number; unit: string }): string {
  if (unit !== "seconds" && unit !== "milliseconds") throw new Error("the unit must be seconds or milliseconds");
  const time = unit === "seconds" ? Math.round(timestamp * 1000) : timestamp;
  if (!(Math.abs(time) <= 8.64e15)) throw new Error("the timestamp is not a number within the range of dates");
  return new Date(time).toISOString();
}
