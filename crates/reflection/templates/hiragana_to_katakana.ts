/** Converts hiragana to katakana; everything else stays. */
function execute({ text }: { text: string }): string {
  return text.replace(/[\u3041-\u3096\u309d\u309e]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0x60));
}
