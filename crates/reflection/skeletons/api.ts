type Params = {
  base: string;
  path: string;
  method: string;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
  response?: string;
  pick?: string;
};
type Prepared = { method: string; url: string; headers: Record<string, string>; body?: string };

/** The address to call, which is below the base. */
function address(base: string, path: string, query: Record<string, unknown>): string {
  if (!URL.canParse(base)) throw new Error("the base is no address: " + base);
  const url = new URL(base);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error("the base is no http address: " + base);
  if (url.username || url.password) throw new Error("the base has a user or a password in it");
  const root = url.pathname.endsWith("/") ? url.pathname : url.pathname + "/";
  if (path !== "") url.pathname = root + path.replace(/^[/]+/, "");
  if (path !== "" && !url.pathname.startsWith(root)) throw new Error("the path leaves the base: " + path);
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && typeof one === "object") throw new Error("the query has no plain value: " + name);
      if (one !== null) url.searchParams.append(name, String(one));
    }
  }
  return url.href;
}

/** Whether a value can be passed on as JSON. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value);
  if (value === null || typeof value !== "object") return true;
  return depth < 32 && Object.entries(value).flat().every((part) => isPlain(part, depth + 1));
}

/** The data in a response, or the part of it at a path such as `items.0.name`. */
function read(response: string, pick: string): unknown {
  let data: unknown;
  try {
    data = JSON.parse(response);
  } catch (error) {
    throw new Error("the response is no JSON: " + error);
  }
  if (!isPlain(data, 0)) throw new Error("the response has a number, a letter or a depth that cannot be passed on");
  for (const name of pick === "" ? [] : pick.split(".")) {
    const parts: Map<string, unknown> = new Map(data !== null && typeof data === "object" ? Object.entries(data) : []);
    if (!parts.has(name)) throw new Error("the response has no " + name + " where " + pick + " leads");
    data = parts.get(name);
  }
  return data;
}

/** Without a response, says which request to send; with one, reads it. */
function execute({ base, path, method, query, body, response, pick }: Params): { request: Prepared; data?: unknown } {
  const request: Prepared = { method, url: address(base, path, query ?? {}), headers: { accept: "application/json" } };
  if (body !== undefined) {
    request.headers["content-type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  return response === undefined ? { request } : { request, data: read(response, pick ?? "") };
}
