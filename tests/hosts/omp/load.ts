// Loads custom tools and extensions with the real loaders of oh-my-pi, and runs calls: a line of JSON for each. Reads
// `{ builtIn: string[], extensions: string[], calls: [name, arguments, abortAfter?][] }` on standard input.
const src = `${process.env.HOST_PACKAGES}/node_modules/@oh-my-pi/pi-coding-agent/src`;
const ai = `${process.env.HOST_PACKAGES}/node_modules/@oh-my-pi/pi-ai/src`;
const { discoverAndLoadCustomTools } = await import(`${src}/extensibility/custom-tools/loader`);
const { CustomToolAdapter } = await import(`${src}/extensibility/custom-tools/wrapper`);
const print = (message: unknown) => console.log(JSON.stringify(message));
const { builtIn = [], extensions = [], calls = [] } = JSON.parse(await Bun.stdin.text());

const context = () => ({ isIdle: () => true, hasQueuedMessages: () => false, abort() {}, cwd: process.cwd() }) as any;
const loaded = await discoverAndLoadCustomTools([], process.cwd(), builtIn);
const tools = new Map<string, any>(loaded.tools.map(({ tool }: any) => [tool.name, new CustomToolAdapter(tool, context)]));
for (const path of extensions) {
  const { loadExtensions } = await import(`${src}/extensibility/extensions/loader`);
  const { extensions: found, errors } = await loadExtensions([path], process.cwd());
  loaded.errors.push(...errors);
  for (const [name, { definition }] of found.flatMap((extension: any) => [...extension.tools])) {
    tools.set(name, { ...definition, execute: (id: string, params: any, signal: any, onUpdate: any) => definition.execute(id, params, signal, onUpdate, context()) });
  }
}
// Older versions have no schemas of their own.
const schema = (await import(`${ai}/utils/schema`).catch(() => ({}))).toolWireSchema ?? ((tool: any) => tool.parameters);
const validate = (await import(`${ai}/utils/validation`)).validateToolArguments;
print({
  errors: loaded.errors.map(({ path, error }: any) => ({ file: path.split("/").pop(), error })),
  tools: [...tools.values()].map((tool) => ({ name: tool.name, description: tool.description, schema: schema(tool) })),
});
for (const [name, args, abortAfter] of calls) {
  const updates: unknown[] = [];
  const signal = abortAfter === undefined ? undefined : AbortSignal.timeout(abortAfter);
  const began = performance.now();
  try {
    const tool = tools.get(name);
    const params = validate(tool, { type: "toolCall", id: "call-1", name, arguments: args });
    const result = await tool.execute("call-1", params, signal, (update: unknown) => updates.push(update), context());
    print({ name, updates, content: result.content, details: result.details, isError: result.isError === true, ms: performance.now() - began });
  } catch (error: any) {
    print({ name, updates, content: [{ type: "text", text: error.message }], isError: true, ms: performance.now() - began });
  }
}
for (const { tool } of loaded.tools) await tool.onSession?.({ reason: "shutdown", previousSessionFile: undefined }, context());
process.exit(0);
