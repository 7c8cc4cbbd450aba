/** Computes the simple moving average of numbers over full windows only. */
function execute({ numbers, window }: { numbers: number[]; window: number }): number[] {
  if (!Number.isInteger(window) || window < 1) throw new Error("window must be a whole number of at least 1");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  const averages: number[] = [];
  for (let end = window; end <= numbers.length; end++) {
    averages.push(numbers.slice(end - window, end).reduce((sum, x) => sum + x, 0) / window);
  }
  return averages;
}
