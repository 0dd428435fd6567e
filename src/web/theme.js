// Light or dark: what the system says until someone chooses. In the head and no module, so that no page flashes first.
"use strict";
{
  const system = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const stored = localStorage.getItem("theme");
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => button.setAttribute("aria-pressed", dark());
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      localStorage.setItem("theme", root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    show();
  });
}
