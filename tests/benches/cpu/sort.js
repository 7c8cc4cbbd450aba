// Sorts with a comparator: numbers, strings and records.
function execute({ scale }) {
  const size = 4_000 * scale;
  let state = 12_345;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);

  const numbers = Array.from({ length: size }, next);
  numbers.sort((a, b) => a - b);

  const words = Array.from({ length: size / 4 }, () => next().toString(36));
  words.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

  const records = Array.from({ length: size / 4 }, (_, id) => ({ id, age: next() % 100, name: `n${next() % 1_000}` }));
  records.sort((a, b) => a.age - b.age || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id));

  return [numbers[size >> 1], words[0], words.at(-1), records[0].id, records.at(-1).id];
}
