/** The initials of a name: the first letter of each part (separated by white space) in upper case. */
function execute({ name }: { name: string }): string {
  return name
    .split(/\s+/u)
    .map(part => (part.match(/\p{L}/u)?.[0] ?? '').toUpperCase())
    .join('');
}
