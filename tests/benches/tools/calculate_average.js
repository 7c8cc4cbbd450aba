async function execute(params) {
  const numbers = params.numbers;
  if (!Array.isArray(numbers) || numbers.length === 0) {
    return { error: "有効な数値配列を指定してください" };
  }
  const sum = numbers.reduce((a, b) => a + b, 0);
  return sum / numbers.length;
}
