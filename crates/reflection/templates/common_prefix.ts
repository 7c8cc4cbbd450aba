/** The longest prefix (in code points) that all texts share; empty if there are no texts. */
function execute({ texts }: { texts: string[] }): string {
  const [first = [], ...others] = texts.map(text => [...text]);
  let length = 0;
  while (length < first.length && others.every(other => other[length] === first[length])) length += 1;
  return first.slice(0, length).join('');
}
