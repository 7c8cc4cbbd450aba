"use strict";
// Waits for changes of the tools in a store, also for those that other processes make.

const { setMaxListeners } = require("node:events");

const INTERVAL_MS = 500;

/** Iterates over the changes of what `look` returns, until one of the signals is aborted. */
function changesOf(look, signals) {
  for (const signal of signals) if (signal instanceof EventTarget) setMaxListeners(0, signal);
  return {
    [Symbol.asyncIterator]() {
      const left = new AbortController();
      const changes = poll(look, [...signals, left.signal]);
      return {
        next: () => changes.next(),
        // A change that is waited for ends the wait too.
        return: () => {
          left.abort();
          return changes.return();
        },
        throw: (error) => {
          left.abort();
          return changes.throw(error);
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
  };
}

async function* poll(look, signals) {
  const hasEnded = () => signals.some((signal) => signal.aborted);
  let last;
  while (!hasEnded()) {
    let now;
    try {
      now = await look();
    } catch (error) {
      if (hasEnded()) return;
      throw error;
    }
    if (hasEnded()) return;
    const hasChanged = last !== undefined && now !== last;
    last = now;
    if (hasChanged) yield;
    await pause(signals);
  }
}

/** Waits for the next look, or until one of the signals is aborted. */
function pause(signals) {
  if (signals.some((signal) => signal.aborted)) return undefined;
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, INTERVAL_MS);
    for (const signal of signals) signal.addEventListener("abort", end);
  });
}

module.exports = { changesOf };
