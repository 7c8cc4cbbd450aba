// Small functions that call each other: recursion, closures, methods, callbacks.
const ackermann = (m, n) => (m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)));

function hanoi(n, from, to, over) {
  return n === 0 ? 0 : hanoi(n - 1, from, over, to) + 1 + hanoi(n - 1, over, to, from);
}

class Tree {
  constructor(depth) {
    this.left = depth > 0 ? new Tree(depth - 1) : null;
    this.right = depth > 0 ? new Tree(depth - 1) : null;
  }
  count() {
    return this.left === null ? 1 : 1 + this.left.count() + this.right.count();
  }
}

const compose =
  (...steps) =>
  (value) =>
    steps.reduce((current, step) => step(current), value);

function execute() {
  const step = compose(
    (n) => n + 1,
    (n) => n * 2,
    (n) => n % 1009,
  );
  let value = 1;
  for (let i = 0; i < 10000; i++) value = step(value);
  const even = (n) => (n === 0 ? true : odd(n - 1));
  const odd = (n) => (n === 0 ? false : even(n - 1));
  let evens = 0;
  for (let i = 0; i < 300; i++) if (even(i)) evens++;
  return [ackermann(2, 150), hanoi(15, "a", "b", "c"), new Tree(11).count(), value, evens];
}
