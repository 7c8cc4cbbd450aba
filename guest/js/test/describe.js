// Turns any value into plain JSON data, so that results from two different engines or realms can be compared.
//
// Invariant: the function uses nothing from outside itself and judges values by their tag, not by `instanceof`; its
// source text is evaluated in the realm where the value was made.

export function describe(value) {
  const known = [];

  function walk(value) {
    switch (typeof value) {
      case 'undefined':
        return { undefined: true };
      case 'number':
        return Object.is(value, -0) || value !== value || Math.abs(value) === Infinity
          ? { number: Object.is(value, -0) ? '-0' : String(value) }
          : value;
      case 'bigint':
        return { bigint: String(value) };
      case 'symbol':
        return { symbol: String(value) };
      case 'function':
        return { function: value.name };
      case 'object':
        return value === null ? null : walkObject(value);
      default:
        return value;
    }
  }

  function walkObject(value) {
    if (known.includes(value)) return { seen: known.indexOf(value) };
    known.push(value);
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    if (Array.isArray(value)) {
      const items = [];
      for (let i = 0; i < value.length; i++) items.push(i in value ? walk(value[i]) : { hole: true });
      return items;
    }
    if (value instanceof Error) {
      const error = { error: value.name };
      // The code of a DOMException and of an invalid URL are part of the interface, those of Node.js' own checks not.
      if (typeof value.code === 'number' || value.code === 'ERR_INVALID_URL') error.code = value.code;
      return error;
    }
    switch (tag) {
      case 'Date':
        return { date: value.getTime() };
      case 'RegExp':
        return { regexp: String(value), lastIndex: value.lastIndex };
      case 'Map':
        return { map: [...value].map(([k, v]) => [walk(k), walk(v)]) };
      case 'Set':
        return { set: [...value].map(walk) };
      case 'ArrayBuffer':
        return { buffer: [...new Uint8Array(value)] };
      case 'DataView':
        return { view: [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)] };
      case 'Number':
      case 'String':
      case 'Boolean':
      case 'BigInt':
        return { boxed: walk(value.valueOf()) };
    }
    // Where a Buffer lies in its ArrayBuffer is up to the allocator.
    if (Buffer.isBuffer(value)) return { Buffer: [...value] };
    if (ArrayBuffer.isView(value)) return { [tag]: [...value].map(walk), offset: value.byteOffset };
    const properties = {};
    for (const key of Object.keys(value)) properties[key] = walk(value[key]);
    return tag === 'Object' ? { object: properties } : { tag, properties };
  }

  return walk(value);
}
