/** Checks whether the brackets (), [] and {} of a text are balanced and properly nested. */
function execute({ text }: { text: string }): boolean {
  const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };
  const expected: string[] = [];
  for (const char of text) {
    if (Object.hasOwn(closing, char)) expected.push(closing[char]);
    else if (")]}".includes(char) && expected.pop() !== char) return false;
  }
  return expected.length === 0;
}
