// `secret`: names of secrets, to be put where the host is to put their values.
//
// Invariant: no value of a secret is ever in here; what a tool gets is a text that stands for it.

import { Error, StringPrototypeSlice, TypeError } from "../src/intrinsics.js";

/** The function of the grant `secrets`, for these names. */
export function makeSecret(names) {
  const { secret } = {
    secret(name) {
      if (typeof name !== "string") throw new TypeError("secret needs the name of a secret: a string");
      for (let index = 0; index < names.length; index++) {
        if (names[index] === name) return "{{secret:" + name + "}}";
      }
      const shown = name.length > 64 ? StringPrototypeSlice(name, 0, 64) + "\u2026" : name;
      throw new Error("it needs the grant `secrets` of " + shown + ", which this call does not have");
    },
  };
  return secret;
}
