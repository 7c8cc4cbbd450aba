/** Formats a number of seconds as hh:mm:ss, h:mm:ss (hours without a leading zero) or mm:ss; the first part grows beyond 24 hours or 60 minutes, fractions of a second are dropped. */
function execute({ seconds, format }: { seconds: number; format: string }): string {
  if (!(seconds >= 0 && seconds < 1e15)) throw new Error("the seconds must be a number that is not negative");
  const whole = Math.floor(seconds);
  const two = (n: number): string => String(n).padStart(2, "0");
  if (format === "mm:ss") return `${two(Math.floor(whole / 60))}:${two(whole % 60)}`;
  const hours = Math.floor(whole / 3600);
  const rest = `${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  if (format === "hh:mm:ss") return `${two(hours)}:${rest}`;
  if (format === "h:mm:ss") return `${hours}:${rest}`;
  throw new Error("the format must be hh:mm:ss, h:mm:ss or mm:ss");
}
