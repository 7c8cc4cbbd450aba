// Finds the bytes behind an ArrayBuffer or one of its views, for the classes that hand bytes to the native functions.
//
// Invariant: what `bytesOf` returns lies within a plain ArrayBuffer that is neither detached, resizable nor shared.
// The native side borrows the memory by address and length, so it must not move or shrink under it.

import {
  ArrayBufferIsView,
  ArrayBufferPrototypeGetByteLength,
  ArrayBufferPrototypeGetResizable,
  DataViewPrototypeGetBuffer,
  DataViewPrototypeGetByteLength,
  DataViewPrototypeGetByteOffset,
  SharedArrayBufferPrototypeGetByteLength,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteLength,
  TypedArrayPrototypeGetByteOffset,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetToStringTag,
  TypeError,
  Uint8Array,
} from './intrinsics.js';

/** Returns the Uint8Array over the bytes of `source`, an ArrayBuffer or a view; `what` names it in a TypeError. */
export function bytesOf(source, what) {
  if (!ArrayBufferIsView(source)) {
    return new Uint8Array(plainBuffer(source, what));
  }
  if (TypedArrayPrototypeGetToStringTag(source) !== undefined) {
    return new Uint8Array(
      plainBuffer(TypedArrayPrototypeGetBuffer(source), what),
      TypedArrayPrototypeGetByteOffset(source),
      TypedArrayPrototypeGetByteLength(source),
    );
  }
  return new Uint8Array(
    plainBuffer(DataViewPrototypeGetBuffer(source), what),
    DataViewPrototypeGetByteOffset(source),
    DataViewPrototypeGetByteLength(source),
  );
}

function plainBuffer(buffer, what) {
  if (!isArrayBuffer(buffer)) {
    throw new TypeError(
      isSharedArrayBuffer(buffer)
        ? what + ' must not be backed by a SharedArrayBuffer'
        : what + ' must be an ArrayBuffer or a view of one',
    );
  }
  if (ArrayBufferPrototypeGetResizable(buffer)) {
    throw new TypeError(what + ' must not be backed by a resizable ArrayBuffer');
  }
  if (isDetached(buffer)) {
    throw new TypeError(what + ' must not be backed by a detached ArrayBuffer');
  }
  return buffer;
}

/** Whether `value` is an ArrayBuffer, whatever its prototype says. */
export function isArrayBuffer(value) {
  try {
    ArrayBufferPrototypeGetByteLength(value);
    return true;
  } catch {
    return false;
  }
}

/** Whether `value` is a SharedArrayBuffer, whatever its prototype says. */
export function isSharedArrayBuffer(value) {
  if (SharedArrayBufferPrototypeGetByteLength === undefined) return false;
  try {
    SharedArrayBufferPrototypeGetByteLength(value);
    return true;
  } catch {
    return false;
  }
}

// The getter `detached` is younger than some engines the tests run on, the refusal of a view is not.
function isDetached(buffer) {
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** A view of `bytes` from `start` to `end`; `subarray` would ask the tool's `Uint8Array[Symbol.species]`. */
export function viewOf(bytes, start, end) {
  return new Uint8Array(
    TypedArrayPrototypeGetBuffer(bytes),
    TypedArrayPrototypeGetByteOffset(bytes) + start,
    end - start,
  );
}

/** A copy of `bytes` from `start` on. */
export function copyFrom(bytes, start) {
  return new Uint8Array(viewOf(bytes, start, TypedArrayPrototypeGetLength(bytes)));
}
