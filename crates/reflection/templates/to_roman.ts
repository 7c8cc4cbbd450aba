const NUMERALS: [string, number][] = [["M", 1000], ["CM", 900], ["D", 500], ["CD", 400], ["C", 100], ["XC", 90], ["L", 50], ["XL", 40], ["X", 10], ["IX", 9], ["V", 5], ["IV", 4], ["I", 1]];

function toRoman(number: number): string {
  let rest = number;
  let roman = "";
  for (const [letters, value] of NUMERALS) {
    while (rest >= value) {
      roman += letters;
      rest -= value;
    }
  }
  return roman;
}

/** Writes a whole number from 1 to 3999 as a Roman numeral. */
function execute({ number }: { number: number }): string {
  if (!Number.isInteger(number) || number < 1 || number > 3999) throw new Error("number must be a whole number from 1 to 3999");
  return toRoman(number);
}
