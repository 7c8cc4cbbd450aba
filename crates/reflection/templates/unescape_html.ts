const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Replaces HTML entities (amp, lt, gt, quot, apos, nbsp, numeric) by their characters; others stay as they are. */
function execute({ text }: { text: string }): string {
  return text.replace(/&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gu, (whole: string, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name]!;
    const code = decimal !== undefined ? parseInt(decimal, 10) : parseInt(hex ?? '0', 16);
    const valid = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return valid ? String.fromCodePoint(code) : whole;
  });
}
