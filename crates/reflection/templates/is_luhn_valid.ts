/** Checks the Luhn check digit of a number (ISO/IEC 7812-1, annex B); spaces and hyphens are ignored. */
function execute({ number }: { number: string }): boolean {
  const digits = number.replace(/[\s-]/g, "");
  if (!/^\d+$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
