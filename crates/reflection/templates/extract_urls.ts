/** Extracts the http and https URLs from a text, in order; punctuation after a URL is not part of it. */
function execute({ text, unique }: { text: string; unique: boolean }): string[] {
  const found = (text.match(/https?:\/\/[^\s<>"'`{}|\\^\u3000-\u303f\uff00-\uffef]+/giu) ?? [])
    .map(url => {
      let end = url.length;
      while (/[.,;:!?*_~]/u.test(url[end - 1] ?? '') || (url[end - 1] === ')' && !url.slice(0, end).includes('('))
        || (url[end - 1] === ']' && !url.slice(0, end).includes('['))) end -= 1;
      return url.slice(0, end);
    })
    .filter(url => !/^https?:\/*$/iu.test(url));
  return unique ? [...new Set(found)] : found;
}
