// Closures, higher-order functions, generators and iteration.
const compose = (...steps) => (value) => steps.reduce((result, step) => step(result), value);

const counter = () => {
  let count = 0;
  return { add: (by) => (count += by), value: () => count };
};

function* range(from, to) {
  for (let n = from; n < to; n++) yield n;
}

function execute({ scale }) {
  const step = compose((n) => n + 1, (n) => n * 2, (n) => n % 1_000_003);
  let value = 1;
  for (let n = 0; n < 20_000 * scale; n++) value = step(value + n);

  const counters = Array.from({ length: 16 }, counter);
  for (let n = 0; n < 40_000 * scale; n++) counters[n % 16].add(n % 5);

  let odd = 0;
  for (const n of range(0, 30_000 * scale)) if (n % 2) odd++;

  const chained = Array.from({ length: 10_000 * scale }, (_, n) => n)
    .filter((n) => n % 3 === 0)
    .map((n) => n * 2)
    .reduce((sum, n) => sum + n, 0);
  return [value, counters.reduce((sum, one) => sum + one.value(), 0), odd, chained];
}
