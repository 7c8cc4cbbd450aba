// The globals that TypeBox reaches through the global object, which tools do not have.

export const globals = { Array, ArrayBuffer, Date, Object, RegExp, Uint8Array };
