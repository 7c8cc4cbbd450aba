const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes the characters & < > " ' of a text for HTML. */
function execute({ text }: { text: string }): string {
  return text.replace(/[&<>"']/gu, character => ENTITIES[character]!);
}
