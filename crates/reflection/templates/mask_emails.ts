/** Masks e-mail addresses: of the part before the @ only the first character stays, every other one becomes "*". */
function execute({ text }: { text: string }): string {
  return text.replace(
    /([\p{L}\p{N}_%+-])([\p{L}\p{N}_%+.-]*)(@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,})/gu,
    (_whole: string, first: string, rest: string, domain: string) => first + '*'.repeat([...rest].length) + domain,
  );
}
