// Documents made of text of this server.

/** A way to turn text into a document (W3C Trusted Types). It is the only one that the pages allow. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string };
}

const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("toolcell", {
  createHTML: (text) => text,
});

/** Parses a page that this server sent. */
export function parsePage(text: string): Document {
  return new DOMParser().parseFromString(trusted ? trusted.createHTML(text) : text, "text/html");
}
