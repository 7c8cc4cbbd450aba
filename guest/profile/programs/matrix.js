// Numbers: matrices of floats and integers, typed arrays, bits, Math.
function multiply(a, b, n) {
  const c = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
  return c;
}

function execute() {
  const n = 48;
  let a = Float64Array.from({ length: n * n }, (_, i) => Math.sin(i) / n);
  const b = Float64Array.from({ length: n * n }, (_, i) => Math.sqrt(i % 97) / n);
  for (let round = 0; round < 4; round++) a = multiply(a, b, n);
  const grid = Array.from({ length: 60 }, (_, y) => Array.from({ length: 60 }, (_, x) => ((x * 7 + y * 13) ^ (x * y)) % 5 < 2));
  let alive = 0;
  for (let y = 1; y < 59; y++) {
    for (let x = 1; x < 59; x++) {
      let near = 0;
      for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) if (grid[y + dy][x + dx]) near++;
      if (near === 3 || (near === 4 && grid[y][x])) alive++;
    }
  }
  let hash = 0x811c9dc5;
  for (let i = 0; i < 60000; i++) {
    hash ^= i & 0xff;
    hash = Math.imul(hash, 0x01000193) >>> 0;
    hash = ((hash << 5) | (hash >>> 27)) >>> 0;
  }
  return [a[7], alive, hash, Math.round(a.reduce((x, y) => Math.max(x, Math.abs(y)), 0) * 1e6)];
}
