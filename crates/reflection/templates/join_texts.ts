/** Joins texts with a separator between them. */
function execute({ texts, separator }: { texts: string[]; separator: string }): string {
  return texts.join(separator);
}
