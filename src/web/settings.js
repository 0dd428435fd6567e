// What the reader chose, kept where the browser allows it; and light or dark: what the system says until someone chooses.
// In the head and no module, so that no page flashes first.
"use strict";
const settings = {
  get(name) { try { return localStorage.getItem(name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(name, value); } catch { /* for this visit only */ } },
};
{
  const system = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const stored = settings.get("theme");
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => button.setAttribute("aria-pressed", dark());
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      settings.set("theme", root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    show();
  });
}
