// Website identity of Mailhelm: reports visits and events of people whom your server has
// identified. It reads one cookie and writes one value, so_session in the session storage.
// It sends nothing without that cookie. See the guide "Link website visits to contacts".
(() => {
  "use strict";
  const stub = Array.isArray(window.mailhelm) ? window.mailhelm : [];
  if (stub.loaded) return;

  // Cookies and storage throw in sandboxed frames and where the visitor has blocked them.
  const attempt = (f) => {
    try {
      return f();
    } catch {
      return undefined;
    }
  };

  const element = document.currentScript || document.querySelector('script[src*="/s/mailhelm.js"]');
  const ownEndpoint = attempt(() => new URL("visit", element.src).href);
  const marker = "so_session";
  // Names of properties: those of the page are set by newEvent.
  const custom = /^(?!(?:path|referrer|title|utm_(?:source|medium|campaign))$)[a-z][a-z0-9_]{0,31}$/;
  const maxWaiting = 10, maxProperties = 10, maxBody = 8192;

  let options, consented, visitor, session, watching;
  let waiting = [];

  const random = () =>
    [...crypto.getRandomValues(new Uint8Array(16))].map((b) => (b + 256).toString(16).slice(1)).join("");

  // Returns the visitor id of the options or the cookie; undefined if neither has one.
  const findVisitor = () => {
    const start = options.cookieName + "=";
    const cookie = () => document.cookie.split("; ").find((c) => c.startsWith(start)).slice(start.length);
    const id = options.visitorId || attempt(cookie);
    return /^vis_[0-9a-hjkmnp-tv-z]{26}$/.test(id) ? id : undefined;
  };

  const endSession = () => {
    session = undefined;
    attempt(() => sessionStorage.removeItem(marker));
  };

  // Members that are undefined are left out of the body.
  const newEvent = (name, properties) => {
    const query = new URLSearchParams(location.search);
    const event = {
      event_id: random(),
      name: String(name),
      properties: {},
      path: location.pathname,
      referrer: document.referrer.split(/[?#]/)[0] || undefined,
      title: document.title || undefined,
    };
    for (const utm of ["utm_source", "utm_medium", "utm_campaign"]) event[utm] = query.get(utm) || undefined;
    let kept = 0;
    for (const [key, value] of Object.entries(Object(properties))) {
      const fits = typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
      if (fits && custom.test(key) && kept++ < maxProperties) event.properties[key] = value;
    }
    return event;
  };

  // Shortens texts until the body has at most maxBody bytes. Halves of surrogate pairs, which a
  // cut may leave, are no valid text, so they are removed.
  const encode = (event) => {
    for (let length = 1024; ; length /= 2) {
      const body = JSON.stringify(event, (_, v) =>
        typeof v === "string" ? v.slice(0, length).replace(/\p{Surrogate}/gu, "") : v);
      if (new TextEncoder().encode(body).length <= maxBody) return body;
    }
  };

  // A text without a type is sent as text/plain, so the browser asks for no permission first.
  const post = (event) => {
    const body = encode({ site_key: options.siteKey, visitor_id: visitor, session_id: session, ...event });
    const url = options.endpoint;
    if (attempt(() => navigator.sendBeacon(url, body))) return;
    attempt(() => fetch(url, { method: "POST", body, keepalive: true, mode: "no-cors", credentials: "omit" }).catch(() => {}));
  };

  // Begins a session with a visit if this browser session has none, then sends the event, if any.
  const send = (event) => {
    const id = findVisitor();
    if (!id || (visitor && visitor !== id)) endSession();
    visitor = id;
    if (!id || navigator.onLine === false) return;
    session = session || attempt(() => sessionStorage.getItem(marker));
    if (!/^[0-9a-f]{32}$/.test(session)) {
      session = random();
      attempt(() => sessionStorage.setItem(marker, session));
      post(newEvent("site_visit"));
    }
    if (event) post(event);
  };

  const ready = () => options && (consented ?? !options.requireConsent) && !document.prerendering;

  const resume = () => {
    if (!ready()) return;
    send();
    waiting.splice(0).forEach(send);
  };

  const watchDataLayer = () => {
    if (watching) return;
    watching = true;
    const layer = (window.dataLayer = window.dataLayer || []);
    const look = (entry) => {
      if (entry && typeof entry.name === "string" && entry.name.startsWith("site_")) methods.track(entry.name, entry.properties);
    };
    layer.forEach(look);
    const push = layer.push;
    layer.push = (...entries) => {
      const result = push.apply(layer, entries);
      entries.forEach((entry) => attempt(() => look(entry)));
      return result;
    };
  };

  const methods = {
    init(given) {
      const { siteKey, cookieName, visitorId, requireConsent, endpoint } = Object(given);
      if (!/^pk_live_[0-9a-z]{32}$/.test(siteKey) || !(endpoint || ownEndpoint)) {
        console.warn("mailhelm: init needs a siteKey like pk_live_..., and an endpoint if the script is imported");
        return;
      }
      options = { siteKey, visitorId, requireConsent, cookieName: cookieName || "so_vid", endpoint: endpoint || ownEndpoint };
      resume();
      attempt(watchDataLayer);
      if (document.prerendering) document.addEventListener("prerenderingchange", resume, { once: true });
    },
    track(name, properties) {
      const event = newEvent(name, properties);
      if (ready()) send(event);
      else if (consented !== false && waiting.length < maxWaiting) waiting.push(event);
    },
    consent(given) {
      consented = given === true;
      if (consented) return resume();
      waiting = [];
      endSession();
    },
  };

  // The tag's stub is an array of calls. It stays the same object, because pages may hold it.
  const api = {};
  for (const name of Object.keys(methods)) api[name] = (...args) => void attempt(() => methods[name](...args));
  const call = ([name, ...args]) => attempt(() => api[name](...args));
  const calls = stub.splice(0);
  window.mailhelm = Object.assign(stub, api, { loaded: true, push: call });
  calls.forEach(call);
})();
