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
    if ((here.state === "dead" || here.state === "moved") && data.health[row[HEALTH]] !== here.state) return false;
    return !texts || words.every((word) => texts[place].includes(word));
  });
}

// HLS and its like are told by their type alone; a browser that plays them says so.
const TYPES = { hls: "application/vnd.apple.mpegurl", dash: "application/dash+xml", mp4: "video/mp4", m4v: "video/mp4", webm: "video/webm", ogv: "video/ogg", ogg: "audio/ogg", oga: "audio/ogg", opus: "audio/ogg", mp3: "audio/mpeg", m4a: "audio/mp4", aac: "audio/aac", wav: "audio/wav", flac: "audio/flac" };
const probes = { video: document.createElement("video"), audio: document.createElement("audio") };
const known = new Map();

function plays(row) {
  const kind = data.kinds[row[KIND]];
  if (!probes[kind] || row[GONE] || data.health[row[HEALTH]] === "dead" || !web(row[URL_])) return false;
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
  const item = make("li", { class: `item kind-${kind}${row[GONE] || data.health[row[HEALTH]] === "dead" ? " gone-item" : ""}` });
  const title = titleOf(row);
  const facts = make("p", { class: "facts" }, make("span", null, `${kind === "flash" ? "Flash" : kind} · ${data.formats[row[FORMAT]]}`));
  if (row[NEW]) facts.append(make("span", { class: "badge" }, "new"));
  if (row[GONE]) facts.append(make("span", { class: "badge gone" }, `gone ${day(row[GONE])}`));
  else facts.append(make("span", { title: `told by ${data.sources[row[SOURCE]]}` }, `since ${day(row[FIRST])}`));
  const health = data.health[row[HEALTH]];
  if (health && health !== "alive") {
    const status = row[STATUS] ? `status ${row[STATUS]}, ` : "";
    facts.append(make("span", { class: `badge ${health}`, title: `${status}checked ${day(row[CHECKED])}` }, health === "dead" && row[STATUS] >= 400 ? `dead: ${row[STATUS]}` : health));
  }
  if (row[MOVED]) facts.append(link(row[MOVED], "where it is now", { title: readable(row[MOVED]) }));
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
  for (const value of ["dead", "moved"]) if (!media.some((row) => data.health[row[HEALTH]] === value)) $("state").querySelector(`[value=${value}]`).remove();
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
