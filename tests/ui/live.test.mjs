// Live updates: open pages follow what other processes do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Store, Visitor, assertSamePage, markPage } from "./support.mjs";

/** The longest time from a change to its appearance on an open page, in milliseconds. */
const DELAY = 2_000;

test("a tool that another process creates appears in the inbox, and the focus stays on its row", async (t) => {
  const store = new Store(t);
  await store.create("first_tool");
  await store.create("second_tool");
  const visitor = await Visitor.enter(t, await store.serve());
  const { page } = visitor;
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  assert.equal(await focused(), "first_tool");
  await markPage(page);
  // Twice, because the page watches anew after it was replaced.
  for (const name of ["third_tool", "fourth_tool"]) {
    await store.create(name);
    await page.waitForSelector(`a[data-row]:text-is("${name}")`, { timeout: DELAY });
    assert.equal(await focused(), "first_tool");
  }
  assert.match(await page.title(), /^\(4\) Inbox/);
  await assertSamePage(page);
  visitor.assertQuiet();
});

test("a decision on the command line leaves the inbox, and a run appears among the runs", async (t) => {
  const store = new Store(t);
  await store.create("wait_for_it");
  const visitor = await Visitor.enter(t, await store.serve());
  const runs = await visitor.open("/runs");
  await Promise.all([markPage(visitor.page), markPage(runs)]);
  await store.lines(["approvals", "grant", "wait_for_it", "--yes"]);
  await visitor.page.waitForSelector("#decided", { timeout: DELAY });
  assert.equal(await visitor.page.locator("#pending").count(), 0);
  await store.lines(["run", "wait_for_it", "ms=1"]);
  await runs.waitForSelector('a[data-row]:text-is("wait_for_it")', { timeout: DELAY });
  await Promise.all([assertSamePage(visitor.page), assertSamePage(runs)]);
  visitor.assertQuiet();
});

test("the page of a tool that is decided on elsewhere says so, and stays as it is", async (t) => {
  const store = new Store(t);
  const id = await store.create("wait_for_it");
  const other = await store.create("another_tool");
  const visitor = await Visitor.enter(t, await store.serve());
  const [page, untouched] = [await visitor.open(`/tools/${id}`), await visitor.open(`/tools/${other}`)];
  await page.fill("#reason", "half a reas");
  await markPage(page);
  const before = await page.innerHTML("main");
  await store.lines(["approvals", "grant", "wait_for_it", "--yes"]);
  await page.waitForSelector("#outdated:not([hidden])", { timeout: DELAY });
  await assertSamePage(page);
  assert.equal(await page.innerHTML("main"), before);
  assert.equal(await page.inputValue("#reason"), "half a reas");
  assert.equal(await untouched.isVisible("#outdated"), false, "the page of another tool is not out of date");
  await page.click("#outdated a");
  await page.waitForSelector("#revoke");
  assert.equal(await page.isVisible("#outdated"), false);
  visitor.assertQuiet();
});

test("a page that comes back from the history is as the store is now", async (t) => {
  const store = new Store(t);
  await store.create("wait_for_it");
  const visitor = await Visitor.enter(t, await store.serve());
  const { page } = visitor;
  await page.click("nav >> text=Tools");
  await page.waitForURL(/\/tools$/);
  await store.create("another_tool");
  await page.goBack();
  await page.waitForSelector('a[data-row]:text-is("another_tool")');
});
