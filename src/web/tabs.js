// The tabs at the page's head: those of the routes that the server has models for.
const tabs = [...document.querySelectorAll("[role=tab]")];
let opened = () => {};
// Called when the reader opens another tab.
export function onOpen(listener) { opened = listener; }

// Shows a tab and what belongs to it: elements whose data-tabs name it.
export function openTab(tab) {
  for (const each of tabs) {
    each.setAttribute("aria-selected", each === tab);
    each.tabIndex = each === tab ? 0 : -1;
  }
  for (const element of document.querySelectorAll("[data-tabs]")) element.hidden = !element.dataset.tabs.split(" ").includes(tab.id);
  document.querySelector(".skip").hash = tab.dataset.first;
  opened();
}

// Offers the tabs of these routes alone; a single one needs no tab to be chosen by. Models of vectors alone have none.
export function offerTabs(routes) {
  for (const tab of tabs) tab.hidden = !routes.includes(tab.dataset.route);
  const offered = tabs.filter(tab => !tab.hidden), selected = offered.find(tab => tab.getAttribute("aria-selected") === "true");
  const none = document.getElementById("no-tab"), empty = offered.length === 0;
  document.querySelector("[role=tablist]").hidden = offered.length < 2;
  if (empty) for (const element of document.querySelectorAll("[data-tabs]")) element.hidden = true;
  else if (!selected || !none.hidden) openTab(selected ?? offered[0]);
  none.hidden = !empty;
}

for (const tab of tabs) {
  tab.addEventListener("click", () => openTab(tab));
  tab.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    const offered = tabs.filter(each => !each.hidden);
    const next = offered.at((offered.indexOf(tab) + step) % offered.length);
    openTab(next);
    next.focus();
  });
}
