// The calls of the reference servers' tools, as code writes them, each with what it gives: a value, or a function that looks
// at it.
//
// Invariant: a call that is refused is not sent, and all others are; `reference.mjs` compares them with what was recorded.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

/** The error of a call. */
const error = (code, effects, message) => (value) => {
  assert.deepEqual({ code: value.code, effects: value.effects }, { code, effects }, JSON.stringify(value));
  assert.match(value.message, message);
};
/** The error of a call that is not sent: its input does not match the schema. */
export const refused = (message) => Object.assign(error("params-invalid", "none", message), { isRefused: true });

const text = (text) => ({ type: "text", text });
const link = (uri, name, description, mimeType) => ({ type: "resource_link", uri, name, description, mimeType });

/** Three blocks, of which the one between the texts is an image. */
const image = (before, after) => (blocks) => {
  const [{ data }] = blocks.splice(1, 1, "image");
  assert.deepEqual(blocks, [text(before), "image", text(after)]);
  assert.equal(Buffer.from(data, "base64").subarray(1, 4).toString(), "PNG");
};

/** What a server has in its environment: what the policy gives it, and little else. The secret is taken out of what it says. */
const environment = (json) => {
  const { TOKEN, ...rest } = JSON.parse(json);
  assert.equal(TOKEN, "{{secret:TOKEN}}");
  const inherited = ["PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];
  assert.deepEqual(Object.keys(rest).filter((name) => !inherited.includes(name)), []);
};

/** `server-everything` of 2026. */
export const EVERYTHING = {
  "echo({ message: 'Grüße, 世界' })": "Echo: Grüße, 世界",
  "get_sum({ a: 1.5, b: -4 })": "The sum of 1.5 and -4 is -2.5.",
  "get_sum({ a: 1 })": refused(/`b`/),
  "get_structured_content({ location: 'Chicago' })": { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 },
  "get_structured_content({ location: 'Paris' })": refused(/"Paris", expected one of "New York", "Chicago", "Los Angeles"/),
  "get_tiny_image()": image("Here's the image you requested:", "The image above is the MCP logo."),
  "get_annotated_message({ messageType: 'error' })": "Error: Operation failed",
  "get_resource_links({ count: 2 })": [
    text("Here are 2 resource links to resources available in this server:"),
    link("demo://resource/dynamic/blob/1", "Blob Resource 1", "Resource 1: plaintext resource", "text/plain"),
    link("demo://resource/dynamic/text/2", "Text Resource 2", "Resource 2: plaintext resource", "text/plain"),
  ],
  // The default of the schema is filled in.
  "get_resource_links()": (blocks) => assert.equal(blocks.length, 4),
  "get_resource_links({ count: 11 })": refused(/count/),
  "get_resource_reference({ resourceType: 'Text', resourceId: 7 })": ([first, { type, resource }, last]) => {
    assert.deepEqual(first, text("Returning resource reference for Resource 7:"));
    assert.equal(type, "resource");
    assert.equal(resource.uri, "demo://resource/dynamic/text/7");
    assert.match(resource.text, /^Resource 7: /);
    assert.deepEqual(last, text("You can access this resource using the URI: demo://resource/dynamic/text/7"));
  },
  "get_resource_reference({ resourceId: 0 })": error("server-tool-failed", "started", /Invalid resourceId: 0/),
  "trigger_long_running_operation({ duration: 0.02, steps: 2 })":
    "Long running operation completed. Duration: 0.02 seconds, Steps: 2.",
  "get_env()": environment,
};

/** What `server-everything` had already in 2024, which returned nothing structured. */
export const EVERYTHING_2024 = {
  "echo({ message: 'Grüße, 世界' })": "Echo: Grüße, 世界",
  "add({ a: 1.5, b: -4 })": "The sum of 1.5 and -4 is -2.5.",
  "add({ a: 1 })": refused(/`b`/),
  "getTinyImage()": image("This is a tiny image:", "The image above is the MCP tiny image."),
  "longRunningOperation({ duration: 0.02, steps: 2 })":
    "Long running operation completed. Duration: 0.02 seconds, Steps: 2.",
  "printEnv()": environment,
};

/** `server-everything` of the summer of 2025. */
export const EVERYTHING_2025 = {
  ...EVERYTHING_2024,
  "annotatedMessage({ messageType: 'success' })": "Operation completed successfully",
  "annotatedMessage({ messageType: 'loud' })": refused(/"loud", expected one of/),
  "structuredContent({ location: 'anywhere' })": { temperature: 22.5, conditions: "Partly cloudy", humidity: 65 },
  "getResourceReference({ resourceId: 2 })": [
    text("Returning resource reference for Resource 2:"),
    {
      type: "resource",
      resource: {
        uri: "test://static/resource/2",
        mimeType: "application/octet-stream",
        blob: btoa("Resource 2: This is a base64 blob"),
      },
    },
    text("You can access this resource using the URI: test://static/resource/2"),
  ],
  "getResourceLinks({ count: 1 })": ([, ...links]) =>
    assert.deepEqual(links, [link("test://static/resource/1", "Resource 1", "Resource 1: plaintext resource", "text/plain")]),
  // The server asks for input within the call, and does not get it.
  "startElicitation({})": (said) => assert.match(said, /User declined to provide/),
};

/** `server-filesystem`, in a folder that has the file `before.txt`. Its hints are believed. */
export const filesystem = (folder) => {
  const path = (name) => JSON.stringify(`${folder}/${name}`);
  const failed = (message) => error("server-tool-failed", "none", message);
  return {
    [`read_text_file({ path: ${path("before.txt")} })`]: { content: "one\ntwo\nthree\n" },
    [`read_text_file({ path: ${path("before.txt")}, head: 1 })`]: { content: "one" },
    [`write_file({ path: ${path("after.txt")}, content: "vier\\nfünf\\n" })`]: {
      content: `Successfully wrote to ${folder}/after.txt`,
    },
    [`edit_file({ path: ${path("after.txt")}, edits: [{ oldText: "fünf", newText: "sechs" }] })`]: ({ content }) =>
      assert.match(content, /^-fünf\n\+sechs$/m),
    [`read_multiple_files({ paths: [${path("after.txt")}] })`]: { content: `${folder}/after.txt:\nvier\nsechs\n\n` },
    [`create_directory({ path: ${path("sub")} })`]: { content: `Successfully created directory ${folder}/sub` },
    [`move_file({ source: ${path("after.txt")}, destination: ${path("sub/moved.txt")} })`]: {
      content: `Successfully moved ${folder}/after.txt to ${folder}/sub/moved.txt`,
    },
    [`list_directory({ path: ${path("")} })`]: ({ content }) =>
      assert.deepEqual(content.split("\n").sort(), ["[DIR] sub", "[FILE] before.txt"]),
    [`read_media_file({ path: ${path("sub/moved.txt")} })`]: {
      content: [
        {
          type: "resource",
          resource: {
            uri: pathToFileURL(`${folder}/sub/moved.txt`).href,
            mimeType: "application/octet-stream",
            blob: Buffer.from("vier\nsechs\n").toString("base64"),
          },
        },
      ],
    },
    [`search_files({ path: ${path("")}, pattern: "**/moved.*" })`]: { content: `${folder}/sub/moved.txt` },
    [`read_text_file({ path: ${path("missing.txt")} })`]: failed(/ENOENT/),
    'read_text_file({ path: "/etc/passwd" })': failed(/outside allowed directories/),
    "read_text_file({ path: 1, head: 'one' })": refused(/\/head/),
    [`write_file({ path: ${path("refused.txt")} })`]: refused(/content/),
  };
};

const ADA = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
const ENGINE = { name: "Engine", entityType: "machine", observations: [] };
const RELATION = { from: "Ada", to: "Engine", relationType: "programs" };
/** `server-memory`, which knows nothing yet. */
export const MEMORY = {
  [`create_entities({ entities: ${JSON.stringify([ADA, ENGINE])} })`]: { entities: [ADA, ENGINE] },
  [`create_relations({ relations: ${JSON.stringify([RELATION])} })`]: { relations: [RELATION] },
  "add_observations({ observations: [{ entityName: 'Ada', contents: ['was born in 1815'] }] })": {
    results: [{ entityName: "Ada", addedObservations: ["was born in 1815"] }],
  },
  "add_observations({ observations: [{ entityName: 'Bob', contents: ['is unknown'] }] })":
    error("server-tool-failed", "started", /Entity with name Bob not found/),
  "create_entities({ entities: [{ name: 'Bob' }] })": refused(/\/entities\/0/),
  "delete_observations({ deletions: [{ entityName: 'Ada', observations: ['wrote the first program'] }] })": ({ success }) =>
    assert.equal(success, true),
};
/** What it knows then, also when it is started again. */
export const REMEMBERED = {
  "read_graph()": { entities: [{ ...ADA, observations: ["was born in 1815"] }, ENGINE], relations: [RELATION] },
  "search_nodes({ query: '1815' })": ({ entities: [{ name }, ...others] }) =>
    assert.deepEqual([name, others], ["Ada", []]),
};
