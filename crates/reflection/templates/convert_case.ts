const STYLES = ['camel', 'pascal', 'snake', 'kebab'];

/** The words of a name in the given style, in lower case. */
function wordsOf(name: string, style: string): string[] {
  const spaced = style === 'snake' ? name.replaceAll('_', ' ') : style === 'kebab' ? name.replaceAll('-', ' ')
    : name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  return spaced.split(' ').filter(word => word !== '').map(word => word.toLowerCase());
}

/** Converts a name from one case style to another. */
function execute({ text, from, to }: { text: string; from: string; to: string }): string {
  for (const style of [from, to]) {
    if (!STYLES.includes(style)) throw new Error(`"${style}" is not a case style; expected one of ${STYLES.join(', ')}`);
  }
  if (/\s/u.test(text)) throw new Error('the text is not a single name; expected a name without spaces');
  const words = wordsOf(text, from);
  if (to === 'snake') return words.join('_');
  if (to === 'kebab') return words.join('-');
  return words.map((word, i) => {
    const [first = '', ...rest] = [...word];
    return i === 0 && to === 'camel' ? word : first.toUpperCase() + rest.join('');
  }).join('');
}
