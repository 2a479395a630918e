"use strict";
(() => {
  const PAGE = 48;
  const BRANCHES = 100;
  const FINDS = 20;
  const [KIND, URL_, ON, TEXT, NAME, FORMAT, MIME, POSTER, LENGTH, SIZE, FIRST, GONE, SOURCE, NEW] = [...Array(14).keys()];
  const [P_URL, P_TITLE, P_SITE, P_DEPTH, P_NODE] = [...Array(5).keys()];
  const [N_PARENT, N_URL, N_TEXT, N_STATE, N_OWN, N_BENEATH, N_WHY] = [...Array(7).keys()];
  const STATES = ["W", "R", "C", "E"];
  const STATE_WORDS = ["waiting", "being read", "read", "failed"];

  const $ = (id) => document.getElementById(id);
  const island = (id) => JSON.parse($(id).textContent);
  const number = new Intl.NumberFormat("en");
  const count = (n, word, many) => `${number.format(n)} ${n === 1 ? word : many || `${word}s`}`;

  // Everything is made of nodes and texts, never of markup: what a page said stays a text.
  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "class") node.className = value;
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return node;
  }

  function icon(name) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS(space, "use");
    use.setAttribute("href", `#i-${name}`);
    svg.append(use);
    return svg;
  }

  const web = (address) => /^https?:\/\//i.test(address);

  function link(address, text, attributes) {
    if (!web(address)) return make("span", attributes, text);
    return make("a", { ...attributes, href: address, rel: "noopener noreferrer" }, text);
  }

  function readable(address) {
    if (!address.includes("%")) return address;
    try {
      // What would steer the text stays encoded; so does what is no UTF-8.
      return decodeURI(address).replace(/[\u0000-\u0020\u007f-\u00a0\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu, encodeURIComponent);
    } catch {
      return address;
    }
  }

  const hostOf = (address) => (/^[a-z]+:\/\/([^/?#]*)/i.exec(address) || ["", ""])[1];
  const fileOf = (address) => readable(address.replace(/[?#].*$/, "").replace(/\/+$/, "").split("/").pop() || address);
  const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

  function clock(seconds) {
    const whole = Math.round(seconds);
    const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    if (!parts[0]) parts.shift();
    return parts.map((part, place) => (place ? String(part).padStart(2, "0") : part)).join(":");
  }

  function bytes(size) {
    let unit = 0;
    for (; size >= 1000 && unit < 4; unit++) size /= 1000;
    return `${size >= 100 || !unit ? size.toFixed(0) : size.toFixed(1)} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
  }

  // ---- the gallery --------------------------------------------------------

  const data = island("media-data");
  const media = data.media;
  const pages = data.pages;
  const titleOf = (row) => row[NAME] || row[TEXT] || fileOf(row[URL_]);

  const here = { kind: "", site: "", format: "", state: "", q: "", sort: "", page: 1 };
  // A report of what is gone shows that, and not the nothing that is there.
  const usual = media.length && media.every((row) => row[GONE]) ? "gone" : "";
  here.state = usual;
  let fetchPosters = false;
  let hits = [];

  const orders = new Map();
  const keys = {
    newest: [(row) => Math.max(row[FIRST], row[GONE]), -1],
    title: [(row) => titleOf(row).toLowerCase(), 1],
    page: [(row) => (pages[row[ON]][P_TITLE] || pages[row[ON]][P_URL]).toLowerCase(), 1],
    host: [(row) => hostOf(row[URL_]), 1],
    longest: [(row) => row[LENGTH], -1],
    largest: [(row) => row[SIZE], -1],
  };

  // The order of all rows is found once for each way of sorting; filters only leave rows out of it.
  function order(sort) {
    if (!orders.has(sort)) {
      const places = media.map((_, place) => place);
      if (keys[sort]) {
        const [key, way] = keys[sort];
        const values = media.map(key);
        places.sort((a, b) => (values[a] < values[b] ? -way : values[a] > values[b] ? way : a - b));
      }
      orders.set(sort, places);
    }
    return orders.get(sort);
  }

  let hay = null;

  function haystack() {
    if (!hay) {
      const ofPage = pages.map((page) => `${page[P_URL]} ${readable(page[P_URL])} ${page[P_TITLE]}`.toLowerCase());
      hay = media.map((row) => `${row[URL_]} ${readable(row[URL_])} ${row[TEXT]} ${row[NAME]}`.toLowerCase() + ` ${ofPage[row[ON]]}`);
    }
    return hay;
  }

  function filtered() {
    const kind = data.kinds.indexOf(here.kind);
    const site = here.site === "" ? -1 : Number(here.site);
    const format = here.format === "" ? -1 : Number(here.format);
    const words = here.q.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = words.length ? haystack() : null;
    return order(here.sort).filter((place) => {
      const row = media[place];
      if (kind >= 0 && row[KIND] !== kind) return false;
      if (format >= 0 && row[FORMAT] !== format) return false;
      if (site >= 0 && pages[row[ON]][P_SITE] !== site) return false;
      if (here.state === "" && row[GONE]) return false;
      if (here.state === "gone" && !row[GONE]) return false;
      if (here.state === "new" && !row[NEW]) return false;
      return !texts || words.every((word) => texts[place].includes(word));
    });
  }

  // HLS and its like are told by their type alone; a browser that plays them says so.
  const TYPES = { hls: "application/vnd.apple.mpegurl", dash: "application/dash+xml", mp4: "video/mp4", m4v: "video/mp4", webm: "video/webm", ogv: "video/ogg", ogg: "audio/ogg", oga: "audio/ogg", opus: "audio/ogg", mp3: "audio/mpeg", m4a: "audio/mp4", aac: "audio/aac", wav: "audio/wav", flac: "audio/flac" };
  const probes = { video: document.createElement("video"), audio: document.createElement("audio") };
  const known = new Map();

  function plays(row) {
    const kind = data.kinds[row[KIND]];
    if (!probes[kind] || row[GONE] || !web(row[URL_])) return false;
    const format = data.formats[row[FORMAT]].toLowerCase();
    const type = row[MIME] || TYPES[format] || `${kind}/${format}`;
    const id = `${kind} ${type}`;
    if (!known.has(id)) known.set(id, Boolean(probes[kind].canPlayType(type)) && type !== "application/dash+xml");
    return known.get(id);
  }

  function play(row, item, stage) {
    const kind = data.kinds[row[KIND]];
    const player = make(kind, { controls: true, preload: "none", src: row[URL_], title: titleOf(row) });
    if (kind === "video" && web(row[POSTER] || "")) player.setAttribute("poster", row[POSTER]);
    player.addEventListener("error", () => {
      if (!stage.querySelector(".failed-play")) stage.append(make("p", { class: "failed-play", role: "alert" }, "This does not play here. Its title leads to the file itself."));
    });
    item.classList.add("open");
    stage.replaceChildren(player);
    player.focus();
    Promise.resolve(player.play()).catch(() => {});
  }

  function staged(row, item) {
    const kind = data.kinds[row[KIND]];
    const stage = make("div", { class: "stage" });
    if (fetchPosters && web(row[POSTER] || "")) stage.append(make("img", { src: row[POSTER], alt: "", loading: "lazy" }));
    if (plays(row)) {
      stage.append(make("button", { type: "button", class: "play", "aria-label": `Play ${titleOf(row)}`, onclick: () => play(row, item, stage) }, make("span", null, icon("play"))));
    } else if (!stage.firstChild) {
      stage.append(icon(kind));
    }
    const told = row[LENGTH] ? clock(row[LENGTH]) : row[SIZE] ? bytes(row[SIZE]) : "";
    if (told) stage.append(make("span", { class: "size" }, told));
    return stage;
  }

  function drawn(place) {
    const row = media[place];
    const page = pages[row[ON]];
    const kind = data.kinds[row[KIND]];
    const item = make("li", { class: `item kind-${kind}${row[GONE] ? " gone-item" : ""}` });
    const title = titleOf(row);
    const facts = make("p", { class: "facts" }, make("span", null, `${kind === "flash" ? "Flash" : kind} · ${data.formats[row[FORMAT]]}`));
    if (row[NEW]) facts.append(make("span", { class: "badge" }, "new"));
    if (row[GONE]) facts.append(make("span", { class: "badge gone" }, `gone ${day(row[GONE])}`));
    else facts.append(make("span", { title: `told by ${data.sources[row[SOURCE]]}` }, `since ${day(row[FIRST])}`));
    if (page[P_NODE] >= 0) facts.append(make("button", { type: "button", onclick: () => reveal(page[P_NODE]) }, "way to it", make("span", { class: "unseen" }, ` for ${title}`)));
    const about = make("div", { class: "about" },
      make("h3", null, link(row[URL_], title, { title: readable(row[URL_]) })),
      row[NAME] && row[TEXT] && row[NAME] !== row[TEXT] ? make("p", { class: "quote" }, `“${row[TEXT]}”`) : null,
      make("p", null, "on ", link(page[P_URL], page[P_TITLE] || readable(page[P_URL]), { title: readable(page[P_URL]) })),
      facts);
    item.append(staged(row, item), about);
    return item;
  }

  function drawPager(last) {
    const pager = $("pager");
    pager.hidden = last < 2;
    if (pager.hidden) return pager.replaceChildren();
    const go = (page) => () => { here.page = page; show(); $("media").scrollIntoView(); };
    const step = (text, label, page, off) => make("button", { type: "button", "aria-label": label, disabled: off, onclick: go(page) }, text);
    const field = make("input", { type: "number", min: 1, max: last, value: here.page, onchange: (event) => { here.page = Math.min(last, Math.max(1, Number(event.target.value) || 1)); show(); } });
    pager.replaceChildren(
      step("First", "First page", 1, here.page === 1),
      step("Back", "Previous page", here.page - 1, here.page === 1),
      make("label", null, "Page ", field, `of ${number.format(last)}`),
      step("Next", "Next page", here.page + 1, here.page === last),
      step("Last", "Last page", last, here.page === last));
  }

  function show() {
    hits = filtered();
    const last = Math.max(1, Math.ceil(hits.length / PAGE));
    here.page = Math.min(last, Math.max(1, here.page));
    const from = (here.page - 1) * PAGE;
    const shown = hits.slice(from, from + PAGE);
    $("grid").replaceChildren(...(shown.length ? shown.map(drawn) : [make("li", { class: "none" }, media.length ? "Nothing matches. Loosen a filter, or show all." : "No media were found yet.")]));
    const part = hits.length > PAGE ? `, ${number.format(from + 1)} to ${number.format(from + shown.length)} shown` : "";
    $("count").textContent = `${count(hits.length, "medium", "media")}${part}`;
    $("reset").hidden = !["kind", "site", "format", "q"].some((name) => here[name]) && here.state === usual;
    $("posters").hidden = !shown.some((place) => web(media[place][POSTER] || ""));
    for (const button of $("kinds").children) button.setAttribute("aria-pressed", String(button.value === here.kind));
    for (const name of ["site", "format", "state", "sort", "q"]) if ($(name).value !== here[name]) $(name).value = here[name];
    drawPager(last);
  }

  // The address keeps the filters, so that a view can be shared and the browser's back button works.
  function written() {
    const words = new URLSearchParams();
    const standard = { state: usual, page: 1 };
    for (const [name, value] of Object.entries(here)) if (value !== (standard[name] ?? "")) words.set(name, value);
    const text = words.toString();
    return text ? `#media?${text}` : "#media";
  }

  function changed(push) {
    here.page = 1;
    show();
    try { history[push ? "pushState" : "replaceState"](null, "", written()); } catch { /* a viewer may forbid it */ }
  }

  function read() {
    const [part, words] = location.hash.slice(1).split("?");
    if (part !== "media" || words === undefined) return false;
    const given = new URLSearchParams(words);
    for (const name of Object.keys(here)) here[name] = name === "page" ? Number(given.get(name)) || 1 : given.get(name) ?? (name === "state" ? usual : "");
    return true;
  }

  function setUp() {
    const totals = data.kinds.map((_, kind) => media.reduce((sum, row) => sum + (row[KIND] === kind && !row[GONE]), 0));
    const words = { video: "Video", audio: "Audio", flash: "Flash" };
    const pick = (value, ...inner) => make("button", { type: "button", value, "aria-pressed": "false", onclick: () => { here.kind = value; changed(true); } }, ...inner);
    $("kinds").append(pick("", "All"), ...data.kinds.filter((_, kind) => totals[kind]).map((name) => pick(name, icon(name), words[name] || name)));
    data.sites.forEach((site, place) => $("site").append(make("option", { value: place }, readable(site).replace(/^https?:\/\/|\/$/g, ""))));
    const named = data.formats.map((format, place) => [format, place]).sort((a, b) => (a[0] < b[0] ? -1 : 1));
    for (const [format, place] of named) $("format").append(make("option", { value: place }, format));
    if (!media.some((row) => row[NEW])) $("state").querySelector("[value=new]").remove();
    if (!media.some((row) => row[GONE])) for (const value of ["gone", "any"]) $("state").querySelector(`[value=${value}]`).remove();
    if ($("state").options.length < 2) $("state").parentElement.hidden = true;
    if (data.sites.length < 2) $("site").parentElement.hidden = true;
    for (const name of ["site", "format", "state", "sort"]) $(name).addEventListener("change", (event) => { here[name] = event.target.value; changed(true); });
    let due = 0;
    $("q").addEventListener("input", (event) => {
      clearTimeout(due);
      due = setTimeout(() => { here.q = event.target.value; changed(false); }, 90);
    });
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("reset").addEventListener("click", () => {
      Object.assign(here, { kind: "", site: "", format: "", state: usual, q: "" });
      changed(true);
      $("q").focus();
    });
    $("posters").addEventListener("click", () => {
      fetchPosters = !fetchPosters;
      $("posters").setAttribute("aria-pressed", String(fetchPosters));
      $("posters").textContent = fetchPosters ? "Hide pictures" : "Fetch pictures";
      show();
    });
    addEventListener("hashchange", () => { if (read()) { show(); $("media").scrollIntoView(); } });
  }

  // ---- the tree -----------------------------------------------------------

  const nodes = island("tree-data");
  const children = nodes.map(() => []);
  const roots = [];
  nodes.forEach((node, place) => (node[N_PARENT] < 0 ? roots : children[node[N_PARENT]]).push(place));
  const rows = new Map();

  function labelOf(node) {
    const parent = node[N_PARENT] < 0 ? null : nodes[node[N_PARENT]];
    const origin = (address) => (/^[a-z]+:\/\/[^/?#]*/i.exec(address) || [""])[0];
    const own = origin(node[N_URL]);
    return readable(parent && own === origin(parent[N_URL]) ? node[N_URL].slice(own.length) || "/" : node[N_URL]);
  }

  function branch(place) {
    const node = nodes[place];
    const state = STATES[node[N_STATE]];
    const row = make("div", { class: "row" });
    const item = make("li", null, row);
    if (children[place].length) {
      const toggle = make("button", { type: "button", class: "toggle", "aria-expanded": "false", "aria-label": `Links of ${labelOf(node)}`, onclick: () => open(place, toggle.getAttribute("aria-expanded") !== "true") });
      row.append(toggle);
    } else {
      row.append(make("span", { class: "leaf" }));
    }
    row.append(make("b", { class: `state ${state}`, title: STATE_WORDS[node[N_STATE]] }, state), link(node[N_URL], labelOf(node), { title: readable(node[N_URL]) }));
    if (node[N_BENEATH]) row.append(make("b", { class: "media-count", title: `${count(node[N_OWN], "medium", "media")} on this page` }, number.format(node[N_BENEATH]), make("span", { class: "unseen" }, " media")));
    if (node[N_WHY]) row.append(make("span", { class: "why" }, node[N_WHY]));
    if (node[N_TEXT]) row.append(make("span", { class: "said", title: node[N_TEXT] }, node[N_TEXT]));
    rows.set(place, { row, item, list: null, drawn: 0 });
    return item;
  }

  // A list of thousands is drawn a hundred at a time.
  function grow(places, held, upTo) {
    const end = Math.min(places.length, upTo);
    const fresh = places.slice(held.drawn, end).map(branch);
    held.drawn = end;
    const more = held.list.querySelector(":scope > .more");
    if (more) more.remove();
    held.list.append(...fresh);
    if (end < places.length) {
      const text = `${number.format(Math.min(BRANCHES, places.length - end))} more of ${number.format(places.length - end)}`;
      held.list.append(make("li", { class: "more" }, make("button", { type: "button", class: "quiet", onclick: () => {
        grow(places, held, end + BRANCHES);
        const next = fresh.length ? held.list.children[end] : null;
        const target = next && next.querySelector("a, button");
        if (target) target.focus();
      } }, text)));
    }
  }

  function open(place, wide) {
    const held = rows.get(place);
    const toggle = held.row.querySelector(".toggle");
    if (!toggle) return;
    if (wide && !held.list) {
      held.list = make("ul", null);
      held.item.append(held.list);
      grow(children[place], held, BRANCHES);
    }
    if (held.list) held.list.hidden = !wide;
    toggle.setAttribute("aria-expanded", String(wide));
  }

  const forest = { list: $("tree"), drawn: 0 };

  function reveal(place) {
    const way = [];
    for (let at = place; at >= 0; at = nodes[at][N_PARENT]) way.unshift(at);
    let held = forest;
    let places = roots;
    way.forEach((at, level) => {
      const index = places.indexOf(at);
      if (index >= held.drawn) grow(places, held, index + 1 + BRANCHES - ((index + 1) % BRANCHES));
      if (level < way.length - 1) open(at, true);
      held = rows.get(at);
      places = children[at];
    });
    for (const other of document.querySelectorAll(".row.found")) other.classList.remove("found");
    const { row } = rows.get(place);
    row.classList.add("found");
    row.scrollIntoView({ block: "center" });
    const target = row.querySelector("a") || row.querySelector("button");
    if (target) target.focus({ preventScroll: true });
  }

  function find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const list = $("finds");
    list.hidden = !words.length;
    list.replaceChildren();
    $("found").textContent = "";
    if (!words.length) return;
    const found = [];
    let more = 0;
    nodes.forEach((node, place) => {
      const hay = `${node[N_URL]} ${readable(node[N_URL])} ${node[N_TEXT]}`.toLowerCase();
      if (!words.every((word) => hay.includes(word))) return;
      if (found.length < FINDS) found.push(place);
      else more++;
    });
    list.hidden = !found.length;
    list.append(...found.map((place) => make("li", null, make("button", { type: "button", onclick: () => reveal(place) }, readable(nodes[place][N_URL])))));
    $("found").textContent = found.length ? (more ? `and ${number.format(more)} more` : count(found.length, "page")) : "No page of the tree matches.";
  }

  function plant() {
    grow(roots, forest, BRANCHES);
    if (roots.length <= 3) for (const root of roots) open(root, true);
    if (!roots.length) $("tree").append(make("li", { class: "note" }, "No link is known yet."));
    let due = 0;
    $("find").addEventListener("input", (event) => {
      clearTimeout(due);
      due = setTimeout(() => find(event.target.value), 90);
    });
  }

  // ---- light and dark -----------------------------------------------------

  const themes = ["", "light", "dark"];
  let theme = 0;
  $("theme").addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    document.documentElement.dataset.theme = themes[theme];
    $("theme").textContent = `Theme: ${themes[theme] || "as the system"}`;
  });

  setUp();
  read();
  show();
  plant();
  requestIdleCallback?.(haystack); // so that the first key of a search need not wait for it
})();
