/** Makes the first letter of every word (separated by white space) upper case; the rest stays as it is. */
function execute({ text }: { text: string }): string {
  return text.replace(/\S+/gu, word => {
    const [first = '', ...rest] = [...word];
    return first.toUpperCase() + rest.join('');
  });
}
