/** Makes the first letter of a text upper case; the rest stays as it is. */
function execute({ text }: { text: string }): string {
  const [first = '', ...rest] = [...text];
  return first.toUpperCase() + rest.join('');
}
