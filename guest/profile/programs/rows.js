// What tools do with rows: CSV in, filter, group, sort, JSON out and in again.
function parseCsv(text) {
  const [head, ...lines] = text.split("\n");
  const names = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, i) => [names[i], cell.trim()])));
}

function execute() {
  const lines = ["city,year,amount"];
  for (let i = 0; i < 3000; i++) lines.push(`city-${(i * 7) % 40}, ${2000 + (i % 25)} ,${(i * 37) % 1009}.5`);
  let checksum = 0;
  for (let round = 0; round < 2; round++) {
    const rows = parseCsv(lines.join("\n")).map((row) => ({ ...row, amount: Number(row.amount), year: parseInt(row.year, 10) }));
    const groups = {};
    for (const row of rows.filter(({ year }) => year % 3 !== 0)) {
      (groups[row.city] ??= []).push(row.amount);
    }
    const summary = Object.entries(groups)
      .map(([city, amounts]) => {
        const total = amounts.reduce((sum, amount) => sum + amount, 0);
        return { city, count: amounts.length, total, mean: total / amounts.length };
      })
      .sort((a, b) => b.total - a.total || a.city.localeCompare(b.city));
    const copy = JSON.parse(JSON.stringify({ summary, rows }, null, 2));
    checksum += copy.summary.length + copy.rows.length;
  }
  return checksum;
}
