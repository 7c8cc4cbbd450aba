const CODES: Record<string, string> = Object.fromEntries(
  ('A.- B-... C-.-. D-.. E. F..-. G--. H.... I.. J.--- K-.- L.-.. M-- N-. O--- P.--. Q--.- R.-. S... T- U..- V...- W.-- '
    + 'X-..- Y-.-- Z--.. 0----- 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... 8---.. 9----. ?..--.. !-.-.-- ,--..-- '
    + ':---... /-..-. =-...- +.-.-. @.--.-.').split(' ').map(entry => [entry.charAt(0), entry.slice(1)]),
);

/** Converts a text to Morse code: a space between letters, " / " between words. */
function execute({ text }: { text: string }): string {
  return text.toUpperCase().split(/\s+/u).filter(word => word !== '').map(word => [...word].map(character => {
    const code = character === '.' ? '.-.-.-' : character === '-' ? '-....-' : CODES[character];
    if (code === undefined) throw new Error(`"${character}" has no Morse code; expected letters A to Z, digits and simple punctuation`);
    return code;
  }).join(' ')).join(' / ');
}
