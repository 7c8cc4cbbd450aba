/** Counts the sentences of a text. A sentence ends at "." "!" "?" before white space or the end, or at "。" "！" "？". */
function execute({ text }: { text: string }): number {
  return text
    .split(/[.!?]+["'”’)]*(?=\s|$)|[。！？]+/u)
    .filter(part => /[\p{L}\p{N}]/u.test(part))
    .length;
}
