/** Extracts the e-mail addresses from a text, in order of appearance. */
function execute({ text, unique }: { text: string; unique: boolean }): string[] {
  const found = text.match(/[\p{L}\p{N}_%+-]+(?:\.[\p{L}\p{N}_%+-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}/gu) ?? [];
  return unique ? [...new Set(found)] : found;
}
