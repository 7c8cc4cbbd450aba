// The accessibility checker, on the page that is open.

import assert from "node:assert/strict";
import axe from "axe-core";

/** Fails if the checker finds something, by any of its rules. */
export async function assertAccessible(page, what) {
  assert.equal(page.frames().length, 1, `${what}: the checker looks into no frames`);
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  const { found, passed } = await page.evaluate(async () => {
    const { violations, passes } = await globalThis.axe.run();
    const told = ({ html, any }) => `${html} (${any.map(({ message }) => message)})`;
    return { found: violations.map(({ id, nodes }) => `${id}: ${nodes.map(told).join("\n  ")}`), passed: passes.length };
  });
  assert.equal(found.join("\n"), "", what);
  assert.ok(passed > 10, what);
}
