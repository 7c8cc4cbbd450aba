/** Removes HTML tags (and comments) from a text; what is between them stays as it is. */
function execute({ text }: { text: string }): string {
  return text.replace(/<(?:!--[^]*?--|\/?[a-zA-Z](?:[^<>"']|"[^"]*"|'[^']*')*|![a-zA-Z][^>]*)>/gu, '');
}
