/** Computes the interest earned with compound interest, the principal not included. */
function execute({ principal, rate, years, times }: { principal: number; rate: number; years: number; times: number }): number {
  if (!Number.isFinite(principal)) throw new Error("principal must be a finite number");
  if (!Number.isFinite(rate)) throw new Error("rate must be a finite number");
  if (!Number.isFinite(years)) throw new Error("years must be a finite number");
  if (principal < 0 || rate < 0 || years < 0) throw new Error("principal, rate and years must not be negative");
  if (!Number.isInteger(times) || times < 1) throw new Error("times must be a whole number of at least 1");
  const amount = principal * (1 + rate / 100 / times) ** (times * years);
  if (!Number.isFinite(amount)) throw new Error("the amount is too large; expected a smaller rate or fewer years");
  return amount - principal;
}
