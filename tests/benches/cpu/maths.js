// Floating-point arithmetic: bodies under gravity, and the Mandelbrot set.
function gravity(steps) {
  const bodies = Array.from({ length: 5 }, (_, n) => (
    { x: n * 1.5, y: n * n * 0.3, z: 1 / (n + 1), vx: 0, vy: n * 0.1, vz: 0, mass: 1 + n }
  ));
  for (let step = 0; step < steps; step++) {
    for (const a of bodies) {
      for (const b of bodies) {
        if (a === b) continue;
        const dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
        const squared = dx * dx + dy * dy + dz * dz + 0.01;
        const pull = (0.001 * b.mass) / (squared * Math.sqrt(squared));
        a.vx += dx * pull;
        a.vy += dy * pull;
        a.vz += dz * pull;
      }
    }
    for (const body of bodies) {
      body.x += body.vx * 0.01;
      body.y += body.vy * 0.01;
      body.z += body.vz * 0.01;
    }
  }
  return bodies.reduce((sum, body) => sum + body.x + body.y + body.z, 0);
}

function mandelbrot(size) {
  let inside = 0;
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const cx = (column / size) * 3 - 2, cy = (row / size) * 2 - 1;
      let x = 0, y = 0, n = 0;
      for (; n < 50 && x * x + y * y < 4; n++) [x, y] = [x * x - y * y + cx, 2 * x * y + cy];
      if (n === 50) inside++;
    }
  }
  return inside;
}

function execute({ scale }) {
  return [gravity(600 * scale), mandelbrot(20 * scale)];
}
