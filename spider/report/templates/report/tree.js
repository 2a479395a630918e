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
