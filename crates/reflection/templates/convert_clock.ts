/** Rewrites a time of day between the 24-hour clock (14:05) and the 12-hour clock (2:05 PM); from and to are "12" or "24". */
function execute({ time, from, to }: { time: string; from: string; to: string }): string {
  if (!["12", "24"].includes(from) || !["12", "24"].includes(to)) throw new Error('from and to must be "12" or "24"');
  const parts = /^(\d{1,2}):([0-5]\d)\s*(am|pm|a\.m\.|p\.m\.)?$/i.exec(time.trim());
  const hour = parts ? Number(parts[1]) : NaN;
  const half = parts && parts[3] ? parts[3][0].toLowerCase() : "";
  if (!parts || (from === "12" ? !half || hour < 1 || hour > 12 : half !== "" || hour > 23)) throw new Error(`"${time}" is not a time of the ${from}-hour clock; expected such as ${from === "12" ? "2:05 PM" : "14:05"}`);
  const hours = from === "24" ? hour : (hour % 12) + (half === "p" ? 12 : 0);
  if (to === "24") return `${String(hours).padStart(2, "0")}:${parts[2]}`;
  return `${hours % 12 || 12}:${parts[2]} ${hours < 12 ? "AM" : "PM"}`;
}
