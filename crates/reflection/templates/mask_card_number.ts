/** Masks a card number: all digits but the last four become asterisks; spaces and hyphens stay. */
function execute({ number }: { number: string }): string {
  const digits = number.replace(/[ -]/gu, '');
  if (!/^[0-9]{4,}$/u.test(digits)) throw new Error('the card number is not valid; expected at least four digits with spaces or hyphens at most');
  let hidden = digits.length - 4;
  return number.replace(/[0-9]/gu, digit => (hidden-- > 0 ? '*' : digit));
}
