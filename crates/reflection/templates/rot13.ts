/** Moves the letters A to Z of a text by 13 places in the alphabet; applied twice it gives the text back. */
function execute({ text }: { text: string }): string {
  return text.replace(/[A-Za-z]/gu, letter => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(base + ((letter.charCodeAt(0) - base + 13) % 26));
  });
}
