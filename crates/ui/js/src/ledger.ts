// The script of the ledger: plots. The page has the same numbers as tables and as CSV, and works without it.
import "./ui";
import { mount } from "./ledger/figure";

for (const figure of document.querySelectorAll<HTMLElement>("figure[data-plot]")) void mount(figure);
