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

/** Reads a Roman numeral (I to MMMCMXCIX) as a whole number. */
function execute({ roman }: { roman: string }): number {
  const numeral = roman.trim().toUpperCase();
  let number = 0;
  let rest = numeral;
  for (const [letters, value] of NUMERALS) {
    while (rest.startsWith(letters)) {
      number += value;
      rest = rest.slice(letters.length);
    }
  }
  if (number < 1 || number > 3999 || toRoman(number) !== numeral) throw new Error("not a Roman numeral; expected one such as MCMXCIV");
  return number;
}
