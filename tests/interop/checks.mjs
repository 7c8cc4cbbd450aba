// Checks: one line for each, and a count.
//
// Invariant: whatever a check throws is a failure of that check, and the next one runs.

let passed = 0;
let failed = 0;

/** Does a check, and prints what came of it; says whether it holds. */
export async function check(name, work) {
  try {
    await work();
  } catch (error) {
    return report(name, String(error?.message ?? error));
  }
  return report(name);
}

/** Prints a check that somebody else did: with the reason, where it does not hold. */
export function report(name, reason) {
  if (reason === undefined) {
    passed += 1;
    console.log(`ok    ${name}`);
    return true;
  }
  failed += 1;
  console.log(`FAIL  ${name}: ${reason.replaceAll("\n", "\n      ")}`);
  return false;
}

/** Prints how many there were; gives the exit status. */
export function close() {
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}
