/** Extracts the IPv4 addresses (four numbers from 0 to 255) from a text, in order. */
function execute({ text, unique }: { text: string; unique: boolean }): string[] {
  const found = (text.match(/[0-9]+(?:\.[0-9]+)*/gu) ?? []).filter(candidate => {
    const parts = candidate.split('.');
    return parts.length === 4 && parts.every(part => /^(?:0|[1-9][0-9]{0,2})$/u.test(part) && Number(part) <= 255);
  });
  return unique ? [...new Set(found)] : found;
}
