"use strict";
// The errors. They are recognised across copies of the package, by a mark instead of their class.

const MARK = Symbol.for("toolcell.error");

/** An error of Toolcell: `code` is stable, `hint` says what to do next, `effects` how far the world was changed. */
class ToolcellError extends Error {
  static kind = "error";

  constructor(data, options) {
    super(data.hint ? `${data.message}\nhint: ${data.hint}` : data.message, options);
    this.name = new.target.name;
    this.code = data.code;
    this.hint = data.hint;
    this.effects = data.effects;
    Object.defineProperty(this, MARK, { value: data.kind });
  }

  static is(error) {
    try {
      return typeof error === "object" && error !== null && MARK in error;
    } catch {
      return false;
    }
  }

  static [Symbol.hasInstance](error) {
    // A class that someone derived is told by its prototype.
    if (!Object.hasOwn(this, "kind")) return Function.prototype[Symbol.hasInstance].call(this, error);
    return ToolcellError.is(error) && (this.kind === "error" || error[MARK] === this.kind);
  }
}

/** The tool threw: `thrown` has the name, the message, the line and the stack of its source. */
class ToolFailed extends ToolcellError {
  static kind = "failed";

  constructor(data, run, options) {
    super(data, options);
    this.thrown = data.thrown;
    this.run = run;
  }
}

/** A limit or a cancellation ended the run; `code` says which. A cancelled one is an `AbortError`. */
class Stopped extends ToolcellError {
  static kind = "stopped";

  constructor(data, run, options) {
    super(data, options);
    if (data.code === "cancelled") this.name = "AbortError";
    if (data.code === "timeout") this.name = "TimeoutError";
    this.run = run;
  }
}

/** Nothing ran: the request, the analysis, the policy, a hook or a person is against it. */
class Refused extends ToolcellError {
  static kind = "refused";

  constructor(data, options) {
    super(data, options);
    this.decidedBy = data.decidedBy;
    this.awaitsApproval = data.awaitsApproval ?? false;
  }
}

/** Returns the error for one of the native module. */
function errorFromJson(data, run, options) {
  if (data.kind === "failed") return new ToolFailed(data, run, options);
  if (data.kind === "stopped") return new Stopped(data, run, options);
  return new Refused(data, options);
}

module.exports = { ToolcellError, ToolFailed, Stopped, Refused, errorFromJson };
