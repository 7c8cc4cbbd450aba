// Calls of a small function.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function execute({ scale }) {
  return fib(23 + scale);
}
