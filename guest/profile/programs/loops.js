// Loops over numbers, arrays and fields.
function collatz(limit) {
  let longest = 0;
  for (let start = 1; start < limit; start++) {
    let steps = 0;
    let n = start;
    while (n !== 1) {
      n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      steps++;
    }
    if (steps > longest) longest = steps;
  }
  return longest;
}

function mandelbrot(size) {
  let inside = 0;
  for (let py = 0; py < size; py++) {
    for (let px = 0; px < size; px++) {
      const x0 = (px / size) * 3 - 2;
      const y0 = (py / size) * 2 - 1;
      let x = 0;
      let y = 0;
      let i = 0;
      for (; i < 40 && x * x + y * y < 4; i++) {
        const next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
      }
      if (i === 40) inside++;
    }
  }
  return inside;
}

function bubble(count) {
  const items = [];
  for (let i = 0; i < count; i++) items[i] = { key: (i * 7919) % count, seen: 0 };
  for (let i = 0; i < items.length; i++) {
    for (let j = 0; j + 1 < items.length - i; j++) {
      if (items[j].key > items[j + 1].key) {
        const item = items[j];
        items[j] = items[j + 1];
        items[j + 1] = item;
        item.seen += 1;
      }
    }
  }
  let total = 0;
  for (const item of items) total += item.seen;
  return total;
}

function gcd(a, b) {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

function execute() {
  let common = 0;
  for (let i = 1; i < 3000; i++) common += gcd(i, 720);
  const state = { low: 1, high: 2 };
  for (let i = 0; i < 60000; i++) {
    state.low = (state.low + state.high) & 0xffff;
    state.high = (state.high ^ (state.low << 1)) & 0xffff;
  }
  return [collatz(3000), mandelbrot(60), bubble(200), common, state.low];
}
