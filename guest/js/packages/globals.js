// The globals that the packages reach through the global object, and those that tools do not have at all: nothing is an
// instance of these.

class File {}
class FormData {}

export const globals = { Array, ArrayBuffer, Date, File, FormData, Object, RegExp, Uint8Array };
