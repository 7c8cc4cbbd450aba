// Recursion, arrays as stacks, permutations, memoization, string building.
function queens(n, row = 0, columns = 0, left = 0, right = 0) {
  if (row === n) return 1;
  let found = 0;
  for (let free = ~(columns | left | right) & ((1 << n) - 1); free !== 0; free &= free - 1) {
    const bit = free & -free;
    found += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return found;
}

function permutations(items) {
  if (items.length <= 1) return [items];
  return items.flatMap((item, i) => permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]));
}

function distance(a, b) {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      current.push(Math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    previous = current;
  }
  return previous[b.length];
}

function execute() {
  let text = "";
  for (let i = 0; i < 20000; i++) text += String.fromCharCode(97 + (i % 26));
  const memo = {};
  const ways = (n) => (n < 2 ? 1 : (memo[n] ??= ways(n - 1) + ways(n - 2)));
  const letters = text.slice(0, 120);
  return [queens(7), permutations([1, 2, 3, 4, 5, 6]).length, ways(60), distance(letters, [...letters].reverse().join(""))];
}
