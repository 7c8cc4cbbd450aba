async function execute(params) {
  const input = params.text || "";
  return input.split("").reverse().join("");
}
