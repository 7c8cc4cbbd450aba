function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

/** Computes the age in completed years, on a reference date, of someone born on a date; born on 29 February, one turns a year older on 1 March of common years. */
function execute({ birth, reference }: { birth: string; reference: string }): number {
  if (dayNumber(reference) < dayNumber(birth)) throw new Error("the reference date is before the date of birth");
  const years = Number(reference.slice(0, 4)) - Number(birth.slice(0, 4));
  return reference.slice(5) < birth.slice(5) ? years - 1 : years;
}
