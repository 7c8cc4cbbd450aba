// Updates a page when the server says that it is out of date.
//
// A list is replaced in place. A page with a decision is never changed under the reader: it says that it is out of date, and the
// server refuses a decision about what is not there any more.
import { parsePage } from "./trusted";

/** The stream of events of the page as it is now. */
let events: EventSource | undefined;

/** Watches from now on what the page shows. */
export function start(): void {
  // A page in the back-forward cache would keep the stream open, and show what was there before.
  addEventListener("pagehide", () => events?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted && watched()) location.reload();
  });
  // A browser opens six connections to a server, for all of its tabs: a tab that is not seen has none.
  addEventListener("visibilitychange", () => (document.hidden ? events?.close() : watch()));
  if (!document.hidden) watch();
}

/** Returns what the page shows, if it is told about changes. */
function watched(): Record<string, string> | undefined {
  const { since, tool, shown } = document.body.dataset;
  return tool && shown ? { tool, shown } : since === undefined ? undefined : { since };
}

function watch(): void {
  const what = watched();
  if (what) listen(new URLSearchParams(what));
}

function listen(what: URLSearchParams): void {
  events?.close();
  const stream = new EventSource(`events?${what}`);
  events = stream;
  stream.addEventListener("open", () => show("offline", false));
  stream.addEventListener("error", () => {
    // A browser tries again if the server is gone, and not if it answered, such as that there are too many streams.
    if (stream.readyState === EventSource.CONNECTING) show("offline", true);
    else void check();
  });
  stream.addEventListener("changed", () => {
    if (what.has("tool")) {
      show("outdated", true);
    } else {
      stream.close();
      void replace();
    }
  });
}

/** Tells whether the page can still be asked for. */
async function check(): Promise<void> {
  const answer = await fetch(location.href).catch(() => undefined);
  // The session ended: the page says how to get in again.
  if (answer?.status === 401) return location.reload();
  show("offline", !answer?.ok);
}

/** Replaces the content of the page with what there is now, and keeps the place of the reader. */
async function replace(): Promise<void> {
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return location.reload();
    const page = parsePage(await answer.text());
    const [before, now] = [document.getElementById("main"), page.getElementById("main")];
    if (!before || !now) return location.reload();
    const focused = document.activeElement?.closest<HTMLAnchorElement>("a[data-row]")?.getAttribute("href");
    before.replaceChildren(...now.childNodes);
    document.title = page.title;
    document.body.dataset.since = page.body.dataset.since ?? "";
    if (focused) before.querySelector<HTMLElement>(`a[data-row][href="${CSS.escape(focused)}"]`)?.focus();
  } catch {
    show("offline", true);
    await new Promise((done) => setTimeout(done, 2000));
  }
  if (!document.hidden) watch();
}

/** Shows or hides a notice of the page. */
export function show(id: string, shown: boolean): void {
  const notice = document.getElementById(id);
  if (notice) notice.hidden = !shown;
}
