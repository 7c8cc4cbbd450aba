// Shows one example in several languages as tabs: code blocks that directly follow each other, in the languages below.
//
// The choice holds for the whole page, and is remembered. Without this script, as on GitHub, all blocks are shown one after another.
(() => {
  const LABELS = { console: "Command line", python: "Python", js: "TypeScript" };
  const STORED = "toolcell-tab";
  /** The tab groups: each is a map from a language to its tab and panel. */
  const groups = [];

  const languageOf = (block) => {
    const code = block.querySelector(":scope > code");
    return Object.keys(LABELS).find((language) => code?.classList.contains(`language-${language}`));
  };

  /** Returns the block that follows with nothing but white space between them. */
  const following = (block) => {
    let node = block.nextSibling;
    while (node?.nodeType === Node.TEXT_NODE && node.data.trim() === "") node = node.nextSibling;
    return node?.nodeName === "PRE" ? node : null;
  };

  /** Returns the blocks of each example: from two on, each in a language of its own. */
  const findExamples = () => {
    const examples = [];
    const seen = new Set();
    for (const first of document.querySelectorAll("main pre")) {
      const example = new Map();
      for (let block = first; block !== null && !seen.has(block); block = following(block)) {
        const language = languageOf(block);
        if (language === undefined || example.has(language)) break;
        example.set(language, block);
        seen.add(block);
      }
      if (example.size > 1) examples.push(example);
    }
    return examples;
  };

  const remembered = () => {
    try {
      return localStorage.getItem(STORED);
    } catch {
      return null;
    }
  };

  const remember = (language) => {
    try {
      localStorage.setItem(STORED, language);
    } catch {
      // The choice holds for this page only.
    }
  };

  /** Selects a language in a group. */
  const select = (group, language) => {
    for (const [name, { tab, panel }] of group) {
      tab.setAttribute("aria-selected", String(name === language));
      tab.tabIndex = name === language ? 0 : -1;
      panel.hidden = name !== language;
    }
  };

  /** Selects a language in all groups that have it. The tab that was used stays where it is on the screen. */
  const choose = (language, tab) => {
    const top = tab.getBoundingClientRect().top;
    for (const group of groups) if (group.has(language)) select(group, language);
    window.scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: "instant" });
    remember(language);
  };

  /** Returns the index of the tab to which a key leads, if it does. */
  const indexAfter = (key, index, count) => {
    const indices = { ArrowLeft: (index + count - 1) % count, ArrowRight: (index + 1) % count, Home: 0, End: count - 1 };
    return indices[key];
  };

  const element = (name, attributes) => {
    const created = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
    return created;
  };

  /** Puts the blocks of an example into panels, below a list of tabs. */
  const build = (example, number) => {
    const group = new Map();
    const container = element("div", { class: "tabs" });
    const list = element("div", { role: "tablist", "aria-label": "Language" });
    example.values().next().value.before(container);
    container.append(list);
    for (const [language, block] of example) {
      const [tabId, panelId] = [`tab-${number}-${language}`, `panel-${number}-${language}`];
      const tab = element("button", { type: "button", role: "tab", id: tabId, "aria-controls": panelId });
      const panel = element("div", { role: "tabpanel", id: panelId, "aria-labelledby": tabId });
      tab.textContent = LABELS[language];
      tab.addEventListener("click", () => choose(language, tab));
      panel.append(block);
      list.append(tab);
      container.append(panel);
      group.set(language, { tab, panel });
    }
    list.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const languages = [...group.keys()];
      const index = languages.findIndex((language) => group.get(language).tab === event.target);
      const next = languages[indexAfter(event.key, index, languages.length)];
      if (next === undefined) return;
      // The arrow keys would turn the page.
      event.preventDefault();
      event.stopPropagation();
      group.get(next).tab.focus();
      choose(next, group.get(next).tab);
    });
    return group;
  };

  groups.push(...findExamples().map(build));
  const language = remembered();
  for (const group of groups) select(group, group.has(language) ? language : group.keys().next().value);
})();
