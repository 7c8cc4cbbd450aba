const SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"];
const TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

function words(n: number): string {
  if (n < 20) return SMALL[n];
  if (n < 100) return TENS[Math.floor(n / 10)] + (n % 10 ? "-" + SMALL[n % 10] : "");
  const unit = n < 1000 ? 100 : 1000;
  const name = n < 1000 ? " hundred" : " thousand";
  return words(Math.floor(n / unit)) + name + (n % unit ? " " + words(n % unit) : "");
}

/** Spells out a whole number from 0 to 999,999 in English (no "and": one hundred twenty-three). */
function execute({ number }: { number: number }): string {
  if (!Number.isInteger(number) || number < 0 || number > 999999) throw new Error("number must be a whole number from 0 to 999999");
  return words(number);
}
