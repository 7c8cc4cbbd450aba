"use strict";
// Profiles as pictures.

const native = require("./native.cjs");
const { errorFromJson } = require("./errors.cjs");
const { stringify, describe } = require("./json.cjs");

/** Draws a profile as a flame graph (SVG). */
function flameGraph(profile) {
  if (typeof profile?.format !== "string")
    throw new TypeError(`profile is ${describe(profile)}, it must be the profile of a run with the option { profile: true }`);
  const text = stringify(profile, "profile");
  try {
    return native.flameGraph(text);
  } catch (error) {
    throw fromNative(error);
  }
}

/** Returns the error of a function of the native module, whose message is JSON. */
function fromNative(error) {
  let failure;
  try {
    failure = JSON.parse(error.message);
  } catch {
    return error;
  }
  return errorFromJson(failure);
}

module.exports = { flameGraph };
