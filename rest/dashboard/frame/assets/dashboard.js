// Conveniences of the dashboard. Every page works without this script. It stores nothing
// and sends requests only to this host.
"use strict";

// prepare adds the conveniences to the elements below root: the document, or a part of the
// page that a script has replaced.
function prepare(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) prepareCopy(button);
  for (const link of root.querySelectorAll("a.button.danger")) prepareQuestion(link);
  for (const drawing of root.querySelectorAll("svg.drawing")) prepareChart(drawing);
  for (const drawn of root.querySelectorAll(".drawn")) center(drawn);
}

// center scrolls a diagram that is wider than its part of the page to its middle, where the
// first step is, now and whenever that part gets another width.
function center(drawn) {
  new ResizeObserver(() => { drawn.scrollLeft = (drawn.scrollWidth - drawn.clientWidth) / 2; }).observe(drawn);
}

// Copy buttons: <button class="copy" data-copy="text" hidden>.
function prepareCopy(button) {
  const label = button.firstChild;
  const words = label.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      label.textContent = "Copied";
    } catch {
      label.textContent = "Select the text and copy it";
    }
    button.dataset.done = "";
    setTimeout(() => { label.textContent = words; delete button.dataset.done; }, 2000);
  });
}

// Roles: <a data-fill="name of checkboxes" data-values="a b"> ticks these checkboxes.
for (const link of document.querySelectorAll("a[data-fill]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const values = link.dataset.values.split(" ");
    for (const box of document.querySelectorAll("input[type=checkbox]")) {
      if (box.name !== link.dataset.fill || box.disabled) continue;
      box.checked = values.includes(box.value);
      if (box.checked) box.closest("details")?.setAttribute("open", "");
    }
  });
}

// Live filters: a form with data-live names the element that the answer replaces. The
// address of the page follows, so that the view can be shared.
for (const form of document.querySelectorAll("form[data-live]")) {
  let latest = 0;
  let timer = 0;
  const refresh = async () => {
    const mine = ++latest;
    const address = new URL(form.action);
    for (const [name, value] of new FormData(form)) if (value !== "") address.searchParams.append(name, value);
    const target = document.querySelector(form.dataset.live);
    target.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(address, { headers: { Accept: "text/html" } });
      if (mine !== latest) return;
      if (answer.redirected) { location.assign(address); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.querySelector(form.dataset.live);
      if (!found) return; // a refusal: the button of the form shows it as a page
      target.replaceWith(found);
      prepare(found);
      history.replaceState(null, "", address);
    } catch {
      // The network failed. The button of the form still works.
    } finally {
      target.removeAttribute("aria-busy");
    }
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(refresh, 250); });
}

// Questions: a button that leads to a page with a question shows the question in place.
function prepareQuestion(link) {
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const question = await ask(link.href);
    if (question) question.showModal(); else location.assign(link.href);
  });
}

// ask returns a dialog with the question of a page, or null if the page has none: it may
// ask for a second factor first.
async function ask(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".page");
    if (!page || !page.querySelector("form[method=post]")) return null;
    const dialog = document.createElement("dialog");
    dialog.className = "question page";
    page.querySelector(".crumbs")?.remove();
    dialog.append(...page.childNodes);
    const heading = dialog.querySelector("h1");
    if (heading) { heading.id = "question"; dialog.setAttribute("aria-labelledby", "question"); }
    for (const cancel of dialog.querySelectorAll("form a.button")) {
      cancel.addEventListener("click", (event) => { event.preventDefault(); dialog.close(); });
    }
    dialog.addEventListener("close", () => dialog.remove());
    document.querySelector("main").append(dialog);
    return dialog;
  } catch {
    return null;
  }
}

// Copied texts at the cursor: <button data-insert="text" hidden> writes into the field with
// data-preview.
const written = document.querySelector("textarea[data-preview]");
for (const button of written ? document.querySelectorAll("button[data-insert]") : []) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const before = written.value.slice(0, written.selectionStart);
    const gap = before === "" || /[\s([]$/.test(before) ? "" : " ";
    written.setRangeText(gap + button.dataset.insert, written.selectionStart, written.selectionEnd, "end");
    written.focus();
    written.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// rewrite sends a form as its button with the value what sends it, which changes nothing. It
// replaces the content of the element that the selector names by that of the answer.
const rewrites = new Map(); // the number of the latest request by selector
async function rewrite(form, what, selector) {
  const mine = (rewrites.get(selector) ?? 0) + 1;
  rewrites.set(selector, mine);
  const target = document.querySelector(selector);
  const body = new URLSearchParams(new FormData(form));
  body.set("do", what);
  target.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector(selector);
    if (mine === rewrites.get(selector) && found) {
      target.replaceChildren(...found.childNodes);
      for (const drawn of target.querySelectorAll(".drawn")) center(drawn);
    }
  } catch {
    // The network failed. The button of the form still works.
  } finally {
    if (mine === rewrites.get(selector)) target.removeAttribute("aria-busy");
  }
}

// Live previews: a field with data-preview names the element that shows what was written.
if (written) {
  let timer = 0;
  written.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => rewrite(written.form, "preview", written.dataset.preview), 400);
  });
}

// Live counts: a choice with data-count names the element that counts what was chosen.
for (const choice of document.querySelectorAll("select[data-count]")) {
  choice.addEventListener("change", () => rewrite(choice.form, "count", choice.dataset.count));
}

// Sources: a field with data-numbers has line numbers beside it. Tab indents in it; Escape
// gives the Tab key back until the field gets the focus again.
for (const field of document.querySelectorAll("textarea[data-numbers]")) {
  const numbers = field.previousElementSibling;
  const count = () => {
    const lines = field.value.split("\n").length;
    field.rows = lines + 1;
    if (numbers.textContent.split("\n").length > lines) return;
    numbers.textContent = Array.from({ length: lines + 300 }, (_, i) => i + 1).join("\n");
  };
  let indents = true;
  field.addEventListener("input", count);
  field.addEventListener("focus", () => { indents = true; });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") indents = false;
    if (event.key !== "Tab" || !indents || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    document.execCommand("insertText", false, "  "); // keeps the history of changes
  });
  for (const hint of field.form.querySelectorAll("[data-shown]")) hint.hidden = false;
  count();
}

// Links to a place in a field: <a href="#html" data-line="3" data-column="7">.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-line]");
  const field = link && document.querySelector(link.getAttribute("href"));
  if (!field) return;
  event.preventDefault();
  const lines = field.value.split("\n");
  const line = Math.min(Number(link.dataset.line), lines.length);
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const before = [...lines[line - 1]].slice(0, Number(link.dataset.column) - 1).join("").length;
  field.focus();
  field.setSelectionRange(start + before, Math.min(start + before + 1, field.value.length));
  const scroller = field.closest(".numbered");
  if (scroller) scroller.scrollTop = (field.scrollHeight * (line - 1)) / Math.max(1, field.rows) - scroller.clientHeight / 3;
});

// All of a list: <input type="checkbox" data-all="name" hidden> ticks the checkboxes with the
// name in its form.
for (const all of document.querySelectorAll("input[data-all]")) {
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of all.form.querySelectorAll("input[type=checkbox]")) if (box.name === all.dataset.all) box.checked = all.checked;
  });
}

// Previews of a draft: a button with data-press is pressed when the page has loaded.
for (const button of document.querySelectorAll("button[data-press]")) button.form.requestSubmit(button);

// Charts: the pointer, and the arrow keys on a focused chart, show the values of a day.
// Enter opens the messages of a marked day.
function prepareChart(drawing) {
  const days = [...drawing.querySelectorAll(".day")];
  if (days.length === 0) return;
  const readout = document.createElement("p");
  readout.className = "readout quiet";
  readout.setAttribute("aria-live", "polite");
  readout.textContent = "Point at a day, or use the arrow keys.";
  drawing.parentElement.before(readout);
  drawing.setAttribute("tabindex", "0");
  let at = -1;
  const show = (next) => {
    if (next === at || !days[next]) return;
    days[at]?.classList.remove("on");
    at = next;
    days[at].classList.add("on");
    readout.textContent = days[at].textContent;
  };
  drawing.addEventListener("pointerover", (event) => show(days.indexOf(event.target)));
  drawing.addEventListener("focusin", (event) => show(days.indexOf(event.target.closest("a")?.querySelector(".day"))));
  drawing.addEventListener("keydown", (event) => {
    const last = days.length - 1;
    const to = { ArrowLeft: at < 0 ? last : Math.max(0, at - 1), ArrowRight: at < 0 ? 0 : Math.min(last, at + 1), Home: 0, End: last }[event.key];
    if (to !== undefined) { event.preventDefault(); show(to); }
    const link = days[at]?.closest("a");
    if (event.key === "Enter" && event.target === drawing && link) location.assign(link.getAttribute("href"));
  });
}

// plainOf returns the markup of an element as the server wrote it, without what this script
// added.
function plainOf(element) {
  const copy = element.cloneNode(true);
  for (const hint of copy.querySelectorAll("noscript")) hint.remove();
  for (const button of copy.querySelectorAll("button[data-copy]")) button.hidden = true;
  return copy.innerHTML;
}

// Progress: an element with data-poll is read again after so many milliseconds. When the
// answer has no such element, the page is loaded again. An element that did not change stays,
// with its selected text and the focus in it, and screen readers do not read it again.
function poll(element) {
  setTimeout(async () => {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.querySelector("[data-poll]");
      if (!found) { location.reload(); return; }
      for (const refresh of found.querySelectorAll("noscript")) refresh.remove();
      if (plainOf(found) === plainOf(element)) { poll(element); return; }
      element.replaceWith(found);
      prepare(found);
      poll(found);
    } catch {
      poll(element); // the network failed
    }
  }, Number(element.dataset.poll));
}
for (const element of document.querySelectorAll("[data-poll]")) poll(element);

prepare(document);

// Tabs: on a phone, the current one may be outside of the visible part of the row.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Keys: "/" goes to the search field, "g" and a letter to a page, "?" shows this list.
const links = [...document.querySelectorAll("a[data-key]")];
const sheet = document.createElement("dialog");
sheet.className = "keys";
sheet.setAttribute("aria-label", "Keys");
const list = document.createElement("dl");
const rows = [["/", "Go to the search field"], ["?", "Show these keys"], ...links.map((a) => ["g " + a.dataset.key, "Open " + a.textContent])];
for (const [keys, what] of rows) {
  const name = document.createElement("dt");
  for (const key of keys.split(" ")) {
    const cap = document.createElement("kbd");
    cap.textContent = key;
    name.append(cap, " ");
  }
  const meaning = document.createElement("dd");
  meaning.textContent = what;
  list.append(name, meaning);
}
const close = document.createElement("button");
close.type = "button";
close.textContent = "Close";
close.addEventListener("click", () => sheet.close());
sheet.append(list, close);
document.querySelector(".app")?.append(sheet);

// The button of a dialog that was just closed keeps the focus until the next frame, so only
// an open dialog takes the keys.
let going = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog[open]")) return;
  if (event.key === "/") {
    const field = document.querySelector("main input[type=search], main .filters input");
    if (field) { event.preventDefault(); field.focus(); field.select(); }
  } else if (event.key === "?") {
    sheet.showModal();
  } else if (event.key === "g") {
    going = true;
    return;
  } else if (going) {
    const link = links.find((a) => a.dataset.key === event.key);
    if (link) { event.preventDefault(); location.assign(link.href); }
  }
  going = false;
});
