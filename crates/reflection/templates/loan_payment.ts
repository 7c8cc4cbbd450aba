/** Computes the monthly payment of an annuity loan. */
function execute({ principal, rate, months }: { principal: number; rate: number; months: number }): number {
  if (!(principal >= 0 && rate >= 0 && Number.isFinite(principal * rate))) throw new Error("principal and rate must be numbers of at least 0");
  if (!Number.isInteger(months) || months < 1) throw new Error("months must be a whole number of at least 1");
  const monthly = rate / 1200;
  const payment = monthly === 0 ? principal / months : (principal * monthly) / (1 - (1 + monthly) ** -months);
  return payment;
}
