// Reads and writes about 1 MiB of JSON text.
function record(id) {
  return {
    id,
    name: `item ${id}`,
    price: (id * 7919) % 10_000 / 100,
    tags: ["new", "größer", id % 2 ? "odd" : "even"],
    stock: { here: id % 13, there: null, ordered: id % 5 === 0 },
  };
}

function execute({ scale }) {
  const records = [];
  for (let id = 0; id < 9_000; id++) records.push(record(id));
  let text = JSON.stringify(records);
  let sum = 0;
  for (let round = 0; round < scale; round++) {
    const parsed = JSON.parse(text);
    parsed[round].name = `changed ${round}`;
    sum += parsed.length + parsed[round].stock.here;
    text = JSON.stringify(parsed);
  }
  return [text.length, sum];
}
