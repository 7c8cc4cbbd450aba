const CODES: Record<string, string> = Object.fromEntries(
  ('A.- B-... C-.-. D-.. E. F..-. G--. H.... I.. J.--- K-.- L.-.. M-- N-. O--- P.--. Q--.- R.-. S... T- U..- V...- W.-- '
    + 'X-..- Y-.-- Z--.. 0----- 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... 8---.. 9----. ?..--.. !-.-.-- ,--..-- '
    + ':---... /-..-. =-...- +.-.-. @.--.-.').split(' ').map(entry => [entry.slice(1), entry.charAt(0)]),
);

/** Decodes Morse code (spaces between letters, "/" between words) to a text in upper case. */
function execute({ morse }: { morse: string }): string {
  return morse.split('/').map(word => word.split(/\s+/u).filter(code => code !== '').map(code => {
    const character = code === '.-.-.-' ? '.' : code === '-....-' ? '-' : CODES[code];
    if (character === undefined) throw new Error(`"${code}" is not Morse code; expected dots and hyphens, with spaces between letters`);
    return character;
  }).join('')).filter(word => word !== '').join(' ');
}
