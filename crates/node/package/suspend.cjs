"use strict";
// Suspended runs, and functions that answer later. Both are recognised across copies of the package, by a mark.

const { isNativeError } = require("node:util/types");
const { stringify, describe, messageOf } = require("./json.cjs");

const SUSPENDED = Symbol.for("toolcell.suspended-run");
const DEFERRED = Symbol.for("toolcell.deferred");

function hasMark(value, mark) {
  try {
    return typeof value === "object" && value !== null && mark in value;
  } catch {
    return false;
  }
}

/** A run that was suspended: `held` are the effects without a decision, `tickets` the functions that answer later. */
class SuspendedRun {
  constructor({ run, toolId, toolName, held, tickets, bytes, record }) {
    Object.assign(this, { run, toolId, toolName, held, tickets, bytes });
    if (typeof record === "string") this.record = record;
    Object.defineProperty(this, SUSPENDED, { value: true });
  }

  static [Symbol.hasInstance](value) {
    // A class that someone derived is told by its prototype.
    if (this !== SuspendedRun) return Function.prototype[Symbol.hasInstance].call(this, value);
    return hasMark(value, SUSPENDED);
  }
}

/** The result of a function that answers later. */
class Deferred {
  constructor(ticket) {
    this.ticket = ticket;
    Object.defineProperty(this, DEFERRED, { value: true });
  }

  toJSON() {
    throw new TypeError("what `defer` returns is the whole result of a function");
  }
}

/** Returns what a function returns that answers later, under this ticket. */
function defer(ticket) {
  if (ticket === "") throw new TypeError("ticket is empty");
  if (typeof ticket !== "string") throw new TypeError(`ticket is ${describe(ticket)}, it must be a string`);
  if (!ticket.isWellFormed()) throw new TypeError("ticket has half a character (see toWellFormed)");
  return new Deferred(ticket);
}

/** Returns the ticket of a result that comes later; `undefined` for one that is there. */
function ticketOf(result) {
  return hasMark(result, DEFERRED) ? result.ticket : undefined;
}

/** Returns the answers of functions as JSON, by their tickets. An error is a failure of the function. */
function answersToJson(answers = {}) {
  // A promise has no entries either.
  if (Object.prototype.toString.call(answers) !== "[object Object]" || Symbol.iterator in answers)
    throw new TypeError(`answers is ${describe(answers)}, it must be a plain object of answers by ticket`);
  const written = Object.entries(answers).map(([ticket, answer]) => {
    const hasFailed = answer instanceof Error || isNativeError(answer);
    const text = hasFailed ? `{"error":${JSON.stringify(messageOf(answer).toWellFormed())}}` : `{"value":${stringify(answer, `answers.${ticket}`)}}`;
    const entry = `${JSON.stringify(ticket)}:${text}`;
    if (HALF.test(entry)) throw new TypeError(`answers.${ticket} has half a character (see toWellFormed)`);
    return entry;
  });
  return `{${written.join(",")}}`;
}

// The escape of half a character, after an even number of backslashes.
const HALF = /(?<!\\)(?:\\\\)*\\ud/;

module.exports = { SuspendedRun, defer, ticketOf, answersToJson };
