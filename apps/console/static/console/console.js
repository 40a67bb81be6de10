// The browser's zone is told to the server, and parts of a page marked with data-refresh renew themselves and say when they did.
"use strict";

(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) document.cookie = `towpath_zone=${zone}; path=/admin/; max-age=31536000; SameSite=Lax`;

  const seconds = (element) => Number(element.dataset.refreshSeconds || 5);

  function say(element, text, failed) {
    const line = document.querySelector(`[data-refreshed="${element.id}"]`);
    if (!line) return;
    line.textContent = text;
    line.classList.toggle("tp-stale", failed);
  }

  function nameCells(root) {
    for (const table of root.querySelectorAll("table.tp-cards")) {
      const names = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
      for (const row of table.querySelectorAll("tbody tr")) [...row.children].forEach((cell, at) => (cell.dataset.label = names[at] || ""));
    }
  }

  async function renew(element) {
    const response = await fetch(element.dataset.refresh, { headers: { "X-Requested-With": "fetch" }, redirect: "manual" });
    if (response.type === "opaqueredirect") throw new Error("you are no longer logged in");
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const html = await response.text();
    if (!element.contains(document.activeElement)) {
      element.innerHTML = html;
      nameCells(element);
    }
    element.dataset.renewed = Date.now();
    say(element, `Refreshed at ${new Date().toLocaleTimeString()}, every ${seconds(element)} s.`, false);
  }

  function keepRenewing(element) {
    let last = new Date();
    const tick = async () => {
      if (!document.hidden) {
        try {
          await (element.dataset.refresh === "list" ? renewList(element) : renew(element));
          last = new Date();
        } catch (error) {
          say(element, `Not refreshed since ${last.toLocaleTimeString()}: ${error.message}.`, true);
        }
      }
      setTimeout(tick, seconds(element) * 1000);
    };
    setTimeout(tick, seconds(element) * 1000);
  }

  // Rows of a list by where they lead: cells are renewed in place, so that boxes stay checked and keep their listeners.
  function rowsByLink(table) {
    return new Map([...table.querySelectorAll("tbody tr")].map((row) => [row.querySelector("a[href]")?.getAttribute("href"), row]));
  }

  async function renewList(element) {
    const response = await fetch(location.href, { headers: { "X-Requested-With": "fetch" }, redirect: "manual" });
    if (response.type === "opaqueredirect") throw new Error("you are no longer logged in");
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const table = document.querySelector("#result_list");
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("#result_list");
    const now = fresh ? rowsByLink(fresh) : new Map();
    const shown = table ? rowsByLink(table) : new Map();
    for (const [link, row] of shown) if (now.has(link)) renewCells(row, now.get(link));
    const same = now.size === shown.size && [...now.keys()].every((link) => shown.has(link));
    const more = same ? "" : " The list has other rows by now: load the page again.";
    say(element, `Refreshed at ${new Date().toLocaleTimeString()}, every ${seconds(element)} s.${more}`, false);
  }

  function renewCells(row, fresh) {
    const cells = [...row.children];
    [...fresh.children].forEach((cell, at) => {
      const old = cells[at];
      if (old && !old.querySelector("input") && !old.contains(document.activeElement)) old.innerHTML = cell.innerHTML;
    });
  }

  function submitOnChange(element) {
    element.addEventListener("change", () => element.form.requestSubmit());
  }

  document.addEventListener("DOMContentLoaded", () => {
    nameCells(document);
    document.querySelectorAll("[data-refresh]").forEach(keepRenewing);
    document.querySelectorAll("select[data-submit]").forEach(submitOnChange);
  });
})();
