// `files`: the granted folders.
//
// Invariant: a path is `FOLDER/rest/of/path`, where the folder is one that was granted; the host judges it. A text is
// UTF-8 both ways, and what is no text is refused as one instead of being changed.

import { decodeUtf8 } from "../src/encoding.js";
import {
  ArrayIsArray,
  ObjectFreeze,
  StringPrototypeCharCodeAt,
  StringPrototypeSlice,
  TypeError,
  Uint8Array,
} from "../src/intrinsics.js";
import { nothing, NOTHING, own, quote, request } from "./operations.js";
import { contentOf, textOf } from "./values.js";

/** The object of the grant `files`. */
export function makeFiles() {
  return ObjectFreeze({
    readText(path) {
      return request("files.read", readText, pathPayload, undefined, path, "files.readText");
    },
    readBytes(path) {
      return request("files.read", readContent, pathPayload, undefined, path, "files.readBytes");
    },
    write(path, content) {
      return write(path, content, "replace", "files.write");
    },
    create(path, content = "") {
      return write(path, content, "create", "files.create");
    },
    append(path, content) {
      return write(path, content, "append", "files.append");
    },
    list(path) {
      return request("files.list", readList, pathPayload, undefined, path, "files.list");
    },
    stat(path) {
      return request("files.stat", readStat, pathPayload, undefined, path, "files.stat");
    },
    remove(path) {
      return request("files.remove", nothing, pathPayload, undefined, path, "files.remove");
    },
    mkdir(path) {
      return request("files.mkdir", nothing, pathPayload, undefined, path, "files.mkdir");
    },
  });
}

function pathOf(path, what) {
  return '{"path":' + quote(textOf(path, "the path of " + what));
}

function pathPayload(path, what) {
  return pathOf(path, what) + "}";
}

function write(path, content, mode, what) {
  return request("files.write", nothing, writePayload, writeContent, { path, content, mode, what });
}

function writePayload({ path, mode, what }) {
  return pathOf(path, what) + ',"mode":"' + mode + '"}';
}

function writeContent({ content, what }) {
  return contentOf(content, "the content of " + what + ", where it is no string,");
}

function readText(answer, bytes, path) {
  const content = readContent(answer, bytes);
  return content === undefined ? undefined : textIn(content, path);
}

function readContent(answer, bytes) {
  if (answer !== null) return undefined;
  return bytes === undefined ? new Uint8Array(0) : bytes;
}

function textIn(bytes, path) {
  const text = decodeUtf8(bytes, true);
  if (text === undefined) throw new TypeError("the file " + path + " is no UTF-8: read it with files.readBytes");
  return StringPrototypeCharCodeAt(text, 0) === 0xfeff ? StringPrototypeSlice(text, 1) : text;
}

function isKind(kind) {
  return kind === "file" || kind === "folder" || kind === "other";
}

function readList(answer) {
  if (!ArrayIsArray(answer)) return undefined;
  for (let index = 0; index < answer.length; index++) {
    if (typeof own(answer[index], "name") !== "string" || !isKind(own(answer[index], "kind"))) return undefined;
  }
  return answer;
}

function readStat(answer) {
  if (answer === null) return NOTHING;
  const kind = own(answer, "kind");
  const size = own(answer, "size");
  const modified = own(answer, "modified_ms");
  if (!isKind(kind) || typeof size !== "number" || typeof modified !== "number") return undefined;
  return { kind, size, modified };
}
