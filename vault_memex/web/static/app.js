"use strict";
// Keys for what the page shows anyway. Whatever has `data-key` is pressed, or a field focused, by that key.
(() => {
  const help = document.getElementById("help");
  const isField = (element) => element.matches("input:not([type=checkbox]), textarea, select");
  const items = () => [...document.querySelectorAll("[data-list] [data-item]")];

  function move(steps) {
    const all = items();
    if (!all.length) return false;
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? (steps > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + steps, 0), all.length - 1);
    all[next].focus();
    all[next].scrollIntoView({ block: "nearest" });
    return true;
  }

  function press(key) {
    const target = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
    if (!target) return (key === "j" && move(1)) || (key === "k" && move(-1));
    if (isField(target)) {
      target.focus();
      target.select?.();
    } else {
      target.click();
      if (target.matches("summary")) target.parentElement.querySelector("textarea")?.focus();
    }
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && isField(event.target)) {
      event.target.blur();
      return;
    }
    if (isField(event.target) || (event.repeat && !"jk".includes(event.key))) return;
    if (help.open) {
      if (event.key === "?") help.close();
      return;
    }
    if (press(event.key)) event.preventDefault();
  });

  document.getElementById("keys").addEventListener("click", () => help.showModal());

  // What arrives or is decided elsewhere while the page is open.
  const count = document.getElementById("count");
  const news = document.getElementById("news");
  const asking = setInterval(async () => {
    if (document.hidden) return;
    try {
      const { waiting } = await (await fetch(document.body.dataset.count)).json();
      if (String(waiting) === count.firstChild.data) return;
      count.firstChild.data = waiting;
      count.hidden = !waiting;
      if (news) news.hidden = false;
    } catch {
      clearInterval(asking); // the program has ended
    }
  }, 5000);

  // A second press while an answer is under way sends nothing.
  for (const form of document.querySelectorAll("form[method=post]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "yes";
    });
  }
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });
})();
