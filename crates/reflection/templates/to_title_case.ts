/** Converts a text to title case: every word separated by white space starts upper case and goes on lower case. */
function execute({ text }: { text: string }): string {
  return text.replace(/\S+/gu, word => {
    const [first = '', ...rest] = [...word];
    return first.toUpperCase() + rest.join('').toLowerCase();
  });
}
