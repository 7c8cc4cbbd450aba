/** Estimates the minutes it takes to read a text, rounded up. */
function execute({ text, wordsPerMinute }: { text: string; wordsPerMinute: number }): number {
  if (!(wordsPerMinute > 0)) throw new Error(`wordsPerMinute is ${wordsPerMinute}; expected a number above 0`);
  return Math.ceil((text.match(/\S+/gu)?.length ?? 0) / wordsPerMinute);
}
