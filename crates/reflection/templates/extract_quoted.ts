/** Extracts the texts in double quotes ("…", “…”, 「…」), without the quotes, in order. */
function execute({ text, unique }: { text: string; unique: boolean }): string[] {
  const found: string[] = [];
  for (const match of text.matchAll(/"([^"“”]*)"|“([^"“”]*)”|「([^「」"“”]*)」/gu)) found.push(match[1] ?? match[2] ?? match[3] ?? '');
  return unique ? [...new Set(found)] : found;
}
