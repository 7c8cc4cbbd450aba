// TextEncoder, TextDecoder, atob, btoa and Buffer against those of Node.js.
//
// Invariant: a stream of bytes gives the same text wherever it is cut; every cut of the samples is tried.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { actual, createRealm, gives, same } from './helpers.js';

const texts = ['', 'plain', 'hé ☃ 😀', '\ud800', 'a\udc00b', '\ud83d\ude00\ud83d', '\0\x7f\x80\u07ff\u0800\uffff', '\ufeffbom'];

test('TextEncoder', async () => {
  for (const text of texts) {
    await same(`new TextEncoder().encode(${JSON.stringify(text)})`);
    for (let room = 0; room < 14; room++) {
      await same(`const into = new Uint8Array(${room + 2}).fill(7);
        const result = new TextEncoder().encodeInto(${JSON.stringify(text)}, into.subarray(1, ${room + 1}));
        return [result.read, result.written, into];`);
    }
  }
  for (const code of [
    'new TextEncoder().encode()',
    'new TextEncoder().encode(undefined)',
    'new TextEncoder().encode(null)',
    'new TextEncoder().encode(Symbol())',
    'new TextEncoder().encoding',
    'new TextEncoder().encodeInto("x", new ArrayBuffer(4))',
    'new TextEncoder().encodeInto("x", new Uint16Array(4))',
    'new TextEncoder().encodeInto("x", [])',
    'TextEncoder.prototype.encode.call({}, "x")',
    'Object.getOwnPropertyDescriptor(TextEncoder.prototype, "encoding").get.call({})',
  ]) {
    await same(code);
  }
});

test('TextDecoder: labels and options', async () => {
  const labels = [
    'utf-8', 'UTF8', ' unicode-1-1-utf-8\n', 'utf-16le', 'UTF-16', 'ucs-2', 'latin1', 'ISO-8859-1', 'ascii', 'us-ascii',
    'windows-1252', 'x-cp1252', 'l1',
  ];
  for (const label of labels) await same(`new TextDecoder(${JSON.stringify(label)}).encoding`);
  for (const label of ['', 'nonsense', 'utf\u20118', 'utf-8\0', '\u00a0utf-8', 'utf -8', '__proto__', 'constructor']) {
    await same(`new TextDecoder(${JSON.stringify(label)})`);
  }
  for (const code of [
    'new TextDecoder().encoding',
    'new TextDecoder(undefined, undefined).fatal',
    'new TextDecoder("utf-8", null).fatal',
    'new TextDecoder("utf-8", { fatal: 1, ignoreBOM: "yes" }).fatal',
    'new TextDecoder("utf-8", { fatal: 1, ignoreBOM: "yes" }).ignoreBOM',
    'new TextDecoder("utf-8", 5)',
    'new TextDecoder(null)',
    'new TextDecoder(Symbol())',
    'new TextDecoder().decode()',
    'new TextDecoder().decode(undefined, { stream: true })',
    'new TextDecoder().decode("text")',
    'new TextDecoder().decode([1])',
    'new TextDecoder().decode({})',
    'new TextDecoder().decode(null)',
    'TextDecoder.prototype.decode.call({})',
  ]) {
    await same(code);
  }
  await gives('return new TextDecoder().decode(undefined, 5);', { thrown: { error: 'TypeError' } });
  const { run } = createRealm();
  assert.match(run('try { new TextDecoder("koi8-r") } catch (e) { e.message }'), /koi8-r.*utf-8, utf-16le.*windows-1252/);
});

const samples = {
  'utf-8': [
    [0x68, 0x69], [0xef, 0xbb, 0xbf, 0x68], [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], [0xef, 0xbb], [0xf0, 0x9f, 0x98, 0x80],
    [0xe2, 0x98, 0x83, 0xc3, 0xa9], [0xff, 0x41], [0xc3], [0xc3, 0x41], [0xe2, 0x98], [0xe2, 0x98, 0x41], [0xf0, 0x9f, 0x98],
    [0xf0, 0x9f, 0x41], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80], [0x80, 0x80], [0xe1, 0x80, 0xe2, 0xf0, 0x91, 0x92, 0xf1, 0xbf, 0x41], [0xf4, 0x8f, 0xbf, 0xbf],
    [0x41, 0xef, 0xbb, 0xbf, 0x42], [0xed, 0x9f, 0xbf], [0xe0, 0xa0], [0xf0, 0x90, 0x80],
  ],
  'utf-16le': [
    [0x68, 0, 0x69, 0], [0xff, 0xfe, 0x68, 0], [0xff, 0xfe, 0xff, 0xfe], [0x3d, 0xd8, 0, 0xde], [0x3d, 0xd8], [0, 0xde, 0x41, 0],
    [0x3d, 0xd8, 0x41, 0], [0x3d, 0xd8, 0x3d, 0xd8, 0, 0xde], [0x68], [0x68, 0, 0x69], [0x3d, 0xd8, 0x41], [0x3d, 0xd8, 0, 0xde, 0x41],
    [0xff, 0xff, 0xfe, 0xff], [0xff, 0xdb, 0xff, 0xdf], [0, 0xde], [0x3d, 0xd8, 0x3d],
  ],
  'windows-1252': [[0x68, 0x69], [0xe9, 0xff], [0xef, 0xbb, 0xbf, 0x41]],
};

for (const [encoding, list] of Object.entries(samples)) {
  for (const options of [{}, { fatal: true }, { ignoreBOM: true }, { fatal: true, ignoreBOM: true }]) {
    test(`TextDecoder: ${encoding} ${JSON.stringify(options)}`, async () => {
      for (const bytes of list) {
        const decoder = `new TextDecoder('${encoding}', ${JSON.stringify(options)})`;
        const view = `Uint8Array.of(${bytes})`;
        await same(`return ${decoder}.decode(${view});`);
        await same(`return ${decoder}.decode(${view}.buffer);`);
        await same(`return ${decoder}.decode(new DataView(Uint8Array.of(65, ${bytes}, 66).buffer, 1, ${bytes.length}));`);
      }
    });
  }

  test(`TextDecoder: ${encoding} in pieces`, async () => {
    for (const options of [{}, { fatal: true }, { ignoreBOM: true }]) {
      for (const bytes of list.filter((bytes) => bytes.length <= 9)) {
        const whole = await actual(
          `return new TextDecoder('${encoding}', ${JSON.stringify(options)}).decode(Uint8Array.of(${bytes}));`,
        );
        const inPieces = (cuts) => {
          const pieces = [];
          let from = 0;
          for (const cut of [...cuts, bytes.length]) pieces.push(bytes.slice(from, (from = cut)));
          return `const d = new TextDecoder('${encoding}', ${JSON.stringify(options)}); let text = '';
            for (const piece of ${JSON.stringify(pieces)}) text += d.decode(Uint8Array.from(piece), { stream: true });
            text += d.decode(); return text;`;
        };
        for (let a = 0; a <= bytes.length; a++) {
          for (let b = a; b <= bytes.length; b++) await gives(inPieces([a, b]), whole);
        }
        await gives(inPieces(bytes.map((_, i) => i)), whole);
      }
    }
  });
}

test('TextDecoder: all of windows-1252', async () => {
  // Node.js 20 decodes it as if it were ISO-8859-1.
  const special = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
  const expected = Array.from({ length: 256 }, (_, i) => (i >= 0x80 && i < 0xa0 ? special[i - 0x80] : String.fromCharCode(i)));
  await gives(
    'new TextDecoder("latin1", { fatal: true }).decode(Uint8Array.from({ length: 256 }, (_, i) => i))',
    expected.join(''),
  );
  await gives('new TextDecoder("latin1", { ignoreBOM: true }).decode(Uint8Array.of(0xff, 0xfe, 0x41))', 'ÿþA');
});

test('TextDecoder: a decoder starts afresh after the end of a stream and after an error', async () => {
  for (const code of [
    'd.decode(Uint8Array.of(0xe2, 0x98), { stream: true }); d.decode(); return d.decode(Uint8Array.of(0x83));',
    'd.decode(Uint8Array.of(0xef, 0xbb, 0xbf, 65), { stream: true }); d.decode(); return d.decode(Uint8Array.of(0xef, 0xbb, 0xbf, 66));',
    'return d.decode(Uint8Array.of(65), { stream: true }) + d.decode(Uint8Array.of(0xef, 0xbb, 0xbf, 66));',
    'const b = Uint8Array.of(0xe2, 0x98); d.decode(b, { stream: true }); b.fill(0); return d.decode(Uint8Array.of(0x83));',
  ]) {
    await same(`const d = new TextDecoder(); ${code}`);
  }
  await gives(
    `const d = new TextDecoder('utf-8', { fatal: true }); let thrown = 0;
     try { d.decode(Uint8Array.of(0xff, 0xe2), { stream: true }); } catch (e) { thrown = e; }
     return [thrown, d.decode(Uint8Array.of(65))];`,
    [{ error: 'TypeError' }, 'A'],
  );
});

test('buffers that may move or vanish are refused with a clear error', () => {
  const { run } = createRealm({ before: 'var Shared = SharedArrayBuffer;' });
  const message = (code) => run(`try { ${code}; 'nothing thrown' } catch (e) { e.name + ': ' + e.message }`);
  const detached = run('var detached = new ArrayBuffer(4); var view = new Uint8Array(detached); detached');
  structuredClone(detached, { transfer: [detached] });
  for (const code of ['new TextDecoder().decode(detached)', 'new TextDecoder().decode(view)']) {
    assert.match(message(code), /^TypeError: .*detached/);
  }
  assert.match(message('new TextEncoder().encodeInto("x", view)'), /^TypeError: .*detached/);
  for (const buffer of ['new Shared(4)', 'new Uint8Array(new Shared(4))']) {
    assert.match(message(`new TextDecoder().decode(${buffer})`), /^TypeError: .*SharedArrayBuffer/);
  }
  for (const buffer of ['new ArrayBuffer(4, { maxByteLength: 8 })', 'new Uint8Array(new ArrayBuffer(4, { maxByteLength: 8 }))']) {
    assert.match(message(`new TextDecoder().decode(${buffer})`), /^TypeError: .*resizable/);
  }
});

test('atob and btoa', async () => {
  for (const input of ['""', '"SGVsbG8="', '"SGVsbG8"', '" S G V\\nsbG8 = "', '"A"', '"AAAAA"', '"=="', '"a-_b"', '"☃"', 'null', '12', 'undefined']) {
    await same(`atob(${input})`);
  }
  for (const input of ['""', '"Hello"', '"\\xff\\x80\\0"', '"☃"', 'null', 'undefined', '5']) await same(`btoa(${input})`);
});

const conversions = ['utf8', 'UTF-8', 'hex', 'base64', 'base64url', 'BASE64URL', 'latin1', 'binary', 'ascii', 'utf16le', 'ucs2'];

test('Buffer: strings and back', async () => {
  for (const encoding of conversions) {
    for (const text of [...texts.slice(0, 7), 'SGVsbG8', 'a-_b', 'a+/b==', '00ff7f80', '_-8=']) {
      // Here the package differs: it reads a hexadecimal digit even where no second one follows.
      if (encoding === 'hex' && !/^[0-9a-z]*$/i.test(text)) continue;
      await same(`Buffer.from(${JSON.stringify(text)}, '${encoding}')`);
      await same(`Buffer.from(${JSON.stringify(text)}).toString('${encoding}')`);
      if (!/64/.test(encoding)) await same(`Buffer.byteLength(${JSON.stringify(text)}, '${encoding}')`);
    }
    await same(`Buffer.isEncoding('${encoding}')`);
    await same(`Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('${encoding}')`.replace("'ascii'", "'hex'"));
  }
  await same('Buffer.isEncoding("nonsense")');
  await same('Buffer.from("x", "nonsense")');
  await same('Buffer.from("x").toString("nonsense")');
});

test('Buffer: malformed UTF-8 is replaced as elsewhere', async () => {
  for (const bytes of samples['utf-8']) {
    await same(`Buffer.from([${bytes}]).toString()`);
    await same(`Buffer.from([${bytes}]).toString('utf8', 1)`);
  }
});

test('Buffer: ranges of toString', async () => {
  for (const args of ['', '0', '1', '1, 3', '-1', '2, 1', '0, 99', '99', '1.9, 3.9', 'undefined, 2', '"1", "3"', 'NaN, NaN', 'null, null']) {
    await same(`Buffer.from('hello').toString('utf8'${args && `, ${args}`})`);
  }
  await same('Buffer.from("hello").toString(undefined, 1, 3)');
  await same('Buffer.from("hello").subarray(1, 4).toString()');
  await same('Buffer.from("hello").subarray(1, 4).toString("base64url")');
  await same('Buffer.from("hello").toLocaleString("hex")');
  await same('`${Buffer.from("hello")}`');
});

test('Buffer: everyday use', async () => {
  for (const code of [
    'Buffer.alloc(5, "YWI", "base64url")',
    'Buffer.alloc(5).fill("YWI", "base64url")',
    'const b = Buffer.alloc(6); return [b.write("YWI_", "base64url"), b.write("YWI_", 3, "base64url"), b];',
    'Buffer.from("xxabc").indexOf("YWJj", 0, "base64url")',
    'Buffer.from("xxabc").includes("YWJj", "base64url")',
    'Buffer.concat([Buffer.from("a"), Buffer.from("b")]).equals(Buffer.from("ab"))',
    'Buffer.compare(Buffer.from("a"), Buffer.from("b"))',
    'Buffer.from("abc") instanceof Uint8Array',
    'Buffer.isBuffer(Buffer.from("abc")) && !Buffer.isBuffer(new Uint8Array(1))',
    'Buffer.from("abc").slice(1).buffer === undefined',
    'Buffer.from(new Uint16Array([1, 256]))',
    'Buffer.from(Uint8Array.of(1, 2, 3).buffer, 1, 1)',
    'Buffer.from({ length: 2, 0: 5, 1: 6 })',
    'Buffer.from(Buffer.from("abc")).toJSON()',
    'JSON.stringify(Buffer.from("ab"))',
    'const b = Buffer.alloc(8); b.writeUInt32BE(0xdeadbeef, 0); b.writeInt16LE(-2, 4); return [b, b.readInt16LE(4)];',
    'const b = Buffer.alloc(16); b.writeDoubleLE(1.5, 0); b.writeBigUInt64BE(2n ** 63n, 8); return [b, b.readDoubleLE(0), b.readBigUInt64BE(8)];',
    'Buffer.alloc(2).readUInt32LE(0)',
    'Buffer.from("hello world").lastIndexOf("o")',
    'Buffer.from("abc").at(-1)',
    'Buffer.from(5)',
    'Buffer.from(undefined)',
    'Buffer.from([256, -1, 1.5, "7"])',
    'Buffer.from("test").swap16().toString()',
  ]) {
    await same(code);
  }
});

test('Buffer: UTF-8 of buffers the native function cannot borrow', async () => {
  await gives('Buffer.from(new ArrayBuffer(3, { maxByteLength: 9 })).fill("é!").toString()', 'é!');
});
