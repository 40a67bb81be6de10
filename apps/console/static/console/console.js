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

  async function renew(element) {
    const response = await fetch(element.dataset.refresh, { headers: { "X-Requested-With": "fetch" }, redirect: "manual" });
    if (response.type === "opaqueredirect") throw new Error("you are no longer logged in");
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const html = await response.text();
    if (!element.contains(document.activeElement)) element.innerHTML = html;
    element.dataset.renewed = Date.now();
    say(element, `Refreshed at ${new Date().toLocaleTimeString()}, every ${seconds(element)} s.`, false);
  }

  function keepRenewing(element) {
    let last = new Date();
    const tick = async () => {
      if (!document.hidden) {
        try {
          await renew(element);
          last = new Date();
        } catch (error) {
          say(element, `Not refreshed since ${last.toLocaleTimeString()}: ${error.message}.`, true);
        }
      }
      setTimeout(tick, seconds(element) * 1000);
    };
    setTimeout(tick, seconds(element) * 1000);
  }

  function submitOnChange(element) {
    element.addEventListener("change", () => element.form.requestSubmit());
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-refresh]").forEach(keepRenewing);
    document.querySelectorAll("select[data-submit]").forEach(submitOnChange);
  });
})();
