// Keys that move the focus. A key never decides: Enter on the focused button does.

const goTo = (id: string) => () => document.getElementById(id)?.focus();
const open = (path: string) => () => location.assign(new URL(path, document.baseURI));

const keys: Record<string, () => void> = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => (document.getElementById("q") ? goTo("q")() : open("tools#q")()),
  a: goTo("approve"),
  r: goTo("reason"),
  i: open("./"),
  "?": () => (document.getElementById("keys") as HTMLDialogElement | null)?.showModal(),
};

export function addKeys(): void {
  addEventListener("keydown", (event) => {
    // The target of an event in a shadow root is its host.
    const at = event.composedPath()[0];
    const isTyping = at instanceof HTMLElement && (at.isContentEditable || at.matches("input, select, textarea, dialog[open] *"));
    if (isTyping || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  if (location.hash === "#q") goTo("q")();
}

/** Moves the focus to the next or the previous row. */
function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by));
  rows[next]?.focus();
}
