// Fills, reads and empties Map and Set.
function execute({ scale }) {
  const counts = new Map();
  for (let n = 0; n < 50_000 * scale; n++) {
    const key = (n * 7_919) % 20_011;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  const named = new Map();
  for (let n = 0; n < 10_000 * scale; n++) {
    const key = `key ${n % 5_003}`;
    if (!named.has(key)) named.set(key, []);
    named.get(key).push(n);
  }

  const seen = new Set();
  for (let n = 0; n < 20_000 * scale; n++) seen.add((n * n) % 65_537);
  for (const value of seen) if (value % 3 === 0) seen.delete(value);

  let sum = 0;
  for (const [key, count] of counts) sum += key * count;
  for (const list of named.values()) sum += list.length;
  return [counts.size, named.size, seen.size, sum];
}
