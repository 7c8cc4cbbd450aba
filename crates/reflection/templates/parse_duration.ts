/** Converts a duration written as hh:mm:ss or mm:ss to seconds; the first part may be of any size. */
function execute({ duration, format }: { duration: string; format: string }): number {
  const parts = duration.trim().split(":");
  if (parts.length !== format.split(":").length || !parts.every((part) => /^\d{1,9}$/.test(part))) throw new Error(`"${duration}" is not a duration; expected ${format}`);
  if (parts.slice(1).some((part) => part.length !== 2 || Number(part) > 59)) throw new Error(`minutes and seconds must be from 00 to 59 in "${duration}"`);
  return parts.reduce((total, part) => total * 60 + Number(part), 0);
}
