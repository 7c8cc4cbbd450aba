// The official conformance suite: every scenario that a revision of the protocol requires, and then all that it knows, which
// takes in the extensions. What the suite only warns of counts as a failure.
//
// Invariant: a failure that is not expected fails, and so does an expected one that does not come any more.

import { join } from "node:path";
import { check, report } from "./checks.mjs";
import { newHome, run, startHttp } from "./servers.mjs";

/** What is run: the revisions of which the suite knows what they require, and everything. */
const SUITES = [
  ["--requirements", "2026-07-28"],
  ["--requirements", "2025-11-25"],
  ["--suite", "all"],
];
/** Fewer scenarios than this are none of these suites. */
const FEWEST = 30;

/** The suite against a server: `of` is who that is in the name of a file with what is expected to fail. */
export async function all(of, command, args) {
  const expected = join(import.meta.dirname, "expected-failures", `${of}.yaml`);
  for (const suite of SUITES) {
    const title = `conformance of ${of}, ${suite.at(-1)}`;
    await check(title, async () => {
      const home = newHome();
      const server = await startHttp(command, args, home);
      const told = ["server", "--url", server.url, ...suite, "--expected-failures", expected];
      const { status, output, errors } = await run("conformance", told, home);
      await server.stop();
      // The suite gives a mark, a scenario and counts for each, and in the end names what was not expected.
      const plain = output.replaceAll(/\x1b\[[0-9;]*m/g, "");
      const scenarios = [...plain.matchAll(/^[✓✗] ([\w-]+): \d+ passed, \d+ failed/gmu)].map(([, scenario]) => scenario);
      if (scenarios.length < FEWEST) throw new Error(`the suite did not run: ${plain}${errors}`);
      const end = plain.slice(plain.search(/^(Unexpected failures|Stale baseline)/mu));
      const wrong = status === 0 ? "" : end;
      for (const scenario of scenarios) if (!wrong.includes(scenario)) report(`${title}: ${scenario}`);
      if (status !== 0) throw new Error(end);
    });
  }
}
