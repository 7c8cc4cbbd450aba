/** Moves the letters A to Z of a text `shift` places forward in the alphabet, from Z on to A; all else stays. */
function execute({ text, shift }: { text: string; shift: number }): string {
  if (!Number.isInteger(shift)) throw new Error(`shift is ${shift}; expected a whole number`);
  const places = ((shift % 26) + 26) % 26;
  return text.replace(/[A-Za-z]/gu, letter => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(base + ((letter.charCodeAt(0) - base + places) % 26));
  });
}
