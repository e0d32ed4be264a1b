// Small helps for the documentation. Every page works without this file.
(() => {
  "use strict";
  const base = new URL(".", document.currentScript.src);

  // The link to the Markdown form of a page copies it, and says so.
  const twin = document.querySelector("a.twin");
  twin?.addEventListener("click", async (event) => {
    event.preventDefault();
    try {
      const answer = await fetch(twin.href);
      if (!answer.ok) throw new Error(answer.statusText);
      await navigator.clipboard.writeText(await answer.text());
      confirmOn(twin, "Copied");
    } catch {
      location.href = twin.href;
    }
  });

  // Each code block gets a button that copies it.
  for (const block of document.querySelectorAll("pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("code").textContent);
      confirmOn(button, "Copied");
    });
    const frame = document.createElement("div");
    frame.className = "code";
    block.replaceWith(frame);
    frame.append(block, button);
  }

  function confirmOn(element, text) {
    const before = element.textContent;
    element.textContent = text;
    element.setAttribute("aria-live", "polite");
    setTimeout(() => { element.textContent = before; }, 2000);
  }

  // The language of the examples that the reader selected, on all pages.
  const key = "mailhelm-docs-language";
  const tabs = [...document.querySelectorAll(".tabs input")];
  const select = (language) => {
    for (const tab of tabs) if (tab.value === language) tab.checked = true;
  };
  try {
    const language = localStorage.getItem(key);
    if (language) select(language);
  } catch { /* storage is not available */ }
  for (const tab of tabs) {
    tab.addEventListener("change", () => {
      select(tab.value);
      try { localStorage.setItem(key, tab.value); } catch { /* storage is not available */ }
    });
  }

  // The key / moves to the search field.
  document.addEventListener("keydown", (event) => {
    const field = document.querySelector("input[type=search]");
    if (event.key !== "/" || !field || /^(input|textarea|select)$/i.test(event.target.tagName)) return;
    event.preventDefault();
    field.focus();
  });

  // The index of the search is a script, so that it also loads from files on a disk.
  const field = document.querySelector("input[type=search]");
  const form = field?.form;
  let loading;
  const load = () => loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = new URL("search-index.js", base).href;
    script.onload = () => done(window.mailhelmSearch);
    script.onerror = failed;
    document.head.append(script);
  });

  // search returns the best entries that have all words.
  function search(index, query, most) {
    const whole = query.trim().toLowerCase();
    const words = whole.split(/[^\p{L}\p{N}_.-]+/u).filter(Boolean).slice(0, 8);
    if (!words.length) return [];
    const found = [];
    for (const entry of index.entries) {
      const [path, , title, heading, body] = entry;
      const name = (heading || title).toLowerCase();
      const text = (title + " " + path + " " + body).toLowerCase();
      let score = name === whole || !heading && path.endsWith("/" + whole) ? 20 : 0;
      for (const word of words) {
        if (name.startsWith(word)) score += 8;
        else if (name.includes(word)) score += 5;
        else if (text.includes(word)) score += 1;
        else { score = -1; break; }
      }
      if (score > 0) found.push([score + (heading ? 0 : 2), entry]);
    }
    return found.sort((a, b) => b[0] - a[0]).slice(0, most).map(([, entry]) => entry);
  }

  // results returns a list of links.
  function results(index, entries, kind) {
    const list = document.createElement(kind === "live" ? "ul" : "ol");
    list.className = kind;
    for (const [path, id, title, heading, body] of entries) {
      const link = document.createElement("a");
      const file = path === "" ? (index.suffix ? "index" + index.suffix : "") : path.slice(1) + index.suffix;
      link.href = new URL(file + (id ? "#" + id : ""), base).href;
      link.textContent = heading ? title + " › " + heading : title;
      const text = document.createElement(kind === "live" ? "small" : "p");
      text.textContent = body;
      const item = document.createElement("li");
      if (kind === "live") link.append(text);
      item.append(link);
      if (kind !== "live") item.append(text);
      list.append(item);
    }
    return list;
  }

  const close = () => form.querySelector(".live")?.remove();
  field?.addEventListener("focus", () => { load().catch(() => {}); }, { once: true });
  field?.addEventListener("input", async () => {
    const query = field.value;
    const index = await load().catch(() => null);
    if (!index || query !== field.value) return;
    close();
    const entries = search(index, query, 8);
    if (entries.length) form.append(results(index, entries, "live"));
  });
  form?.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  document.addEventListener("click", (event) => { if (form && !form.contains(event.target)) close(); });

  // The search page of exported files has no server: the script shows the results.
  const place = document.getElementById("results");
  const query = new URLSearchParams(location.search).get("q");
  if (place && query && !field.value) {
    field.value = query;
    load().then((index) => { place.replaceChildren(results(index, search(index, query, 30), "results")); }).catch(() => {});
  }
})();
