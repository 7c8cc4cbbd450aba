/** Converts katakana to hiragana; everything else stays. */
function execute({ text }: { text: string }): string {
  return text.replace(/[\u30a1-\u30f6\u30fd\u30fe]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0x60));
}
