// ---- graphs of applications: states in columns by depth, events as curves between them ----------------

const [S_DEPTH, S_URL] = [0, 1];
const [E_FROM, E_TO, E_EVENT, E_ELEMENT] = [...Array(4).keys()];
const [R_STATE, R_EDGE, R_METHOD, R_URL, R_STATUS, R_MIME, R_BODY, R_REFUSED] = [...Array(8).keys()];
const BOX = { width: 104, height: 34, across: 196, down: 62, margin: 46 };
const NEAREST = 0.68; // a narrow screen begins with a part that can be read
const EVENTS = 100;
const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children.filter(Boolean));
  return node;
}

// Each state stands in the column of its depth, near the middle of those that lead to it: two sweeps, for few crossings.
function layout(graph) {
  const columns = [];
  graph.states.forEach((state, place) => (columns[state[S_DEPTH]] ||= []).push(place));
  const filled = columns.filter(Boolean);
  const row = new Map();
  const settle = (column) => column.forEach((place, at) => row.set(place, at - (column.length - 1) / 2));
  filled.forEach(settle);
  const near = graph.states.map(() => []);
  for (const edge of graph.edges) {
    if (edge[E_FROM] === edge[E_TO]) continue;
    near[edge[E_FROM]].push(edge[E_TO]);
    near[edge[E_TO]].push(edge[E_FROM]);
  }
  const middle = (place) => (near[place].length ? near[place].reduce((sum, other) => sum + row.get(other), 0) / near[place].length : row.get(place));
  for (const sweep of [filled, [...filled].reverse()]) {
    for (const column of sweep) {
      const wish = new Map(column.map((place) => [place, middle(place)]));
      column.sort((a, b) => wish.get(a) - wish.get(b) || a - b);
      settle(column);
    }
  }
  const most = Math.max(...filled.map((column) => column.length));
  const at = graph.states.map((_, place) => ({ x: 0, y: BOX.margin + (row.get(place) + (most - 1) / 2) * BOX.down }));
  filled.forEach((column, number) => column.forEach((place) => { at[place].x = BOX.margin + number * BOX.across; }));
  return { at, width: BOX.margin * 2 + (filled.length - 1) * BOX.across + BOX.width, height: BOX.margin * 2 + (most - 1) * BOX.down + BOX.height };
}

// Forwards a curve leaves on the right and comes in on the left, backwards to the next column the other way round, a
// little lower; within a column it swings out on the right, and from farther back below what lies between.
function curve(from, to) {
  const middle = BOX.height / 2;
  if (from === to) {
    const x = from.x + BOX.width / 2;
    return `M${x - 14} ${from.y} C${x - 30} ${from.y - 34} ${x + 30} ${from.y - 34} ${x + 14} ${from.y}`;
  }
  if (to.x > from.x) {
    const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + middle - 5, to.x, to.y + middle - 5];
    const bend = Math.min(80, (x2 - x1) / 2);
    return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  if (from.x === to.x) {
    const [x, y1, y2] = [from.x + BOX.width, from.y + middle + 6, to.y + middle + 6];
    const out = x + 18 + Math.min(70, Math.abs(y1 - y2) / 5);
    return `M${x} ${y1} C${out} ${y1} ${out} ${y2} ${x} ${y2}`;
  }
  if (from.x - to.x <= BOX.across) {
    const [x1, y1, x2, y2] = [from.x, from.y + middle + 9, to.x + BOX.width, to.y + middle + 9];
    const bend = (x1 - x2) / 2;
    return `M${x1} ${y1} C${x1 - bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2}`;
  }
  const below = BOX.height;
  const [x1, x2] = [from.x + BOX.width * 0.65, to.x + BOX.width * 0.35];
  const sag = 26 + Math.min(40, Math.abs(x1 - x2) / 12);
  return `M${x1} ${from.y + below} C${x1} ${from.y + below + sag} ${x2} ${to.y + below + sag} ${x2} ${to.y + below}`;
}

// Events between the same two states are one curve.
function bundles(graph) {
  const found = new Map();
  graph.edges.forEach((edge, place) => {
    const id = `${edge[E_FROM]} ${edge[E_TO]}`;
    if (!found.has(id)) found.set(id, { from: edge[E_FROM], to: edge[E_TO], edges: [] });
    found.get(id).edges.push(place);
  });
  return [...found.values()];
}

function askedOf(graph, test) {
  const rows = graph.resources.filter(test);
  return rows.length ? make("ul", { class: "asked" }, ...rows.map((row) => make("li", null,
    make("b", null, row[R_METHOD]), " ", link(row[R_URL], readable(row[R_URL])),
    make("span", { class: "dim" }, ` ${[row[R_STATUS] || "", row[R_MIME], row[R_BODY] && `body ${row[R_BODY]}`].filter(Boolean).join(" · ")}`),
    row[R_REFUSED] ? make("span", { class: "why" }, ` not sent: ${row[R_REFUSED]}`) : null))) : null;
}

const STEPS = 3; // the last of an element's path are enough to find it by eye

function told(edge) {
  const steps = edge[E_ELEMENT].split(">");
  const near = steps.length > STEPS ? `… ${steps.slice(-STEPS).join(" > ")}` : steps.join(" > ");
  return make("span", null, make("b", null, edge[E_EVENT]), " on ", make("code", { title: edge[E_ELEMENT] }, near));
}

// Where the events of a state lead: the first of each curve, and how many more do the same.
function leading(graph, ways) {
  if (!ways.length) return [make("p", { class: "note" }, "No event of it leads anywhere.")];
  return [make("h5", null, "Where it leads"), make("ul", { class: "events" }, ...ways.slice(0, EVENTS).map((one) => make("li", null,
    make("b", null, one.to ? `state ${one.to}` : "start"), ": ", told(graph.edges[one.edges[0]]),
    one.edges.length > 1 ? make("span", { class: "dim" }, ` and ${count(one.edges.length - 1, "more", "more")}`) : null)))];
}

function graphView(graph) {
  const shape = layout(graph);
  const view = { x: 0, y: 0, width: shape.width, height: shape.height };
  const facts = make("div", { class: "graph-facts", "aria-live": "polite" });
  const curves = svg("g", { class: "edges" });
  const boxes = svg("g", { class: "states" });
  const drawing = svg("svg", { class: "graph", role: "group", "aria-label": `States of ${graph.title || graph.page}`, preserveAspectRatio: "xMidYMid meet" },
    svg("defs", null, svg("marker", { id: `tip-${graph.number}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8Z" }))), curves, boxes);
  const shown = (...nodes) => facts.replaceChildren(...nodes.filter(Boolean));
  const chosen = (node) => {
    for (const other of drawing.querySelectorAll(".chosen")) other.classList.remove("chosen");
    node.classList.add("chosen");
    for (const edge of curves.children) edge.classList.toggle("lit", edge.dataset.from === node.dataset.place);
  };
  const press = (node, label, act) => {
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", label);
    node.addEventListener("click", () => { chosen(node); act(); });
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      chosen(node);
      act();
    });
    return node;
  };

  const bundled = bundles(graph);
  for (const one of bundled) {
    const d = curve(shape.at[one.from], shape.at[one.to]);
    const path = svg("path", { class: "line", d, "marker-end": `url(#tip-${graph.number})` });
    const many = one.edges.length;
    const label = `${count(many, "event")} from state ${one.from} to state ${one.to}`;
    const back = graph.states[one.to][S_DEPTH] <= graph.states[one.from][S_DEPTH]; // drawn faint: it leads nowhere new
    curves.append(press(svg("g", { class: `edge${many > 1 ? " many" : ""}${back ? " back" : ""}`, "data-from": one.from }, svg("path", { class: "touch", d }), path), label, () => shown(
      make("h4", null, `State ${one.from} → ${one.to}`),
      make("ul", { class: "events" }, ...one.edges.slice(0, EVENTS).map((place) => make("li", null, told(graph.edges[place]), askedOf(graph, (row) => row[R_EDGE] === place)))),
      many > EVENTS ? make("p", { class: "note" }, `and ${number.format(many - EVENTS)} more`) : null)));
  }
  graph.states.forEach((state, place) => {
    const { x, y } = shape.at[place];
    const own = graph.media.filter((medium) => medium[0] === place);
    const box = svg("g", { class: `state-box${place ? "" : " start"}`, "data-place": place, transform: `translate(${x} ${y})` },
      svg("rect", { width: BOX.width, height: BOX.height, rx: 8 }), svg("text", { x: BOX.width / 2, y: 22, "text-anchor": "middle" }));
    box.querySelector("text").textContent = place ? `state ${place}` : "start";
    if (own.length) {
      box.append(svg("circle", { cx: BOX.width - 4, cy: 2, r: 11 }), svg("text", { class: "badge-text", x: BOX.width - 4, y: 6.5, "text-anchor": "middle" }));
      box.lastChild.textContent = own.length > 99 ? "99+" : own.length;
    }
    boxes.append(press(box, `State ${place}, ${count(own.length, "medium", "media")}`, () => shown(
      make("h4", null, place ? `State ${place}, ${count(state[S_DEPTH], "event")} from the start` : "The start: the page as it opens"),
      make("p", null, link(state[S_URL], readable(state[S_URL]))),
      own.length ? make("ul", { class: "events" }, ...own.map((medium) => make("li", null, make("b", { class: `kind-${data.kinds[medium[1]]} kind-word` }, data.kinds[medium[1]]), " ", link(medium[2], fileOf(medium[2]), { title: readable(medium[2]) })))) : null,
      askedOf(graph, (row) => row[R_STATE] === place && row[R_EDGE] < 0),
      ...leading(graph, bundled.filter((one) => one.from === place)))));
  });

  const look = () => drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const zoom = (factor, at) => {
    const width = Math.min(shape.width * 4, Math.max(150, view.width * factor));
    const share = at || { x: 0.5, y: 0.5 };
    const height = (view.height * width) / view.width;
    view.x += (view.width - width) * share.x;
    view.y += (view.height - height) * share.y;
    Object.assign(view, { width, height });
    look();
  };
  const whole = () => { Object.assign(view, { x: 0, y: 0, width: shape.width, height: shape.height }); look(); };
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // a page that is scrolled past it goes on scrolling
    event.preventDefault();
    const area = drawing.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, { x: (event.clientX - area.left) / area.width, y: (event.clientY - area.top) / area.height });
  }, { passive: false });
  let held = null;
  drawing.addEventListener("pointerdown", (event) => { if (!event.target.closest(".edge, .state-box")) { held = event; drawing.setPointerCapture(event.pointerId); } });
  drawing.addEventListener("pointermove", (event) => {
    if (!held) return;
    const scale = view.width / drawing.getBoundingClientRect().width;
    view.x -= (event.clientX - held.clientX) * scale;
    view.y -= (event.clientY - held.clientY) * scale;
    held = event;
    look();
  });
  for (const name of ["pointerup", "pointercancel"]) drawing.addEventListener(name, () => { held = null; });
  const begin = () => {
    const width = drawing.clientWidth / NEAREST;
    if (!width || width >= shape.width) return look();
    const height = (drawing.clientHeight / drawing.clientWidth) * width;
    Object.assign(view, { x: 0, y: shape.at[0].y + BOX.height / 2 - height / 2, width, height });
    look();
  };
  requestAnimationFrame(begin);
  drawing.style.setProperty("--shape", shape.height / shape.width);
  shown(make("p", { class: "note" }, "Choose a state or a curve to see its events, what they ask the server for, and the media it shows."));
  const tool = (text, label, act) => make("button", { type: "button", class: "quiet", "aria-label": label, onclick: act }, text);
  return make("div", { class: "graph-view" },
    make("div", { class: "graph-stage" }, drawing, make("div", { class: "graph-tools" }, tool("+", "Nearer", () => zoom(1 / 1.3)), tool("−", "Farther", () => zoom(1.3)), tool("Whole", "Show the whole graph", whole))),
    facts);
}

function draw() {
  const list = $("graph-list");
  if (!list) return;
  const graphs = island("graph-data");
  graphs.forEach((graph, place) => {
    graph.number = place;
    const title = graph.title || readable(graph.page);
    const size = `${count(graph.states.length, "state")}, ${count(graph.edges.length, "event")}, ${count(graph.resources.length, "resource")}${graph.media.length ? `, ${count(graph.media.length, "medium", "media")}` : ""}`;
    const held = make("details", { class: "panel graph-item" }, make("summary", null, make("b", null, title), " ", make("span", { class: "dim" }, size)), make("p", { class: "note" }, link(graph.page, readable(graph.page)), graph.left ? ` The ${number.format(graph.states.length)} nearest of ${number.format(graph.states.length + graph.left)} states.` : ""));
    const plot = () => { if (held.open && !held.querySelector(".graph-view")) held.append(graphView(graph)); };
    held.addEventListener("toggle", plot);
    list.append(held);
    if (!place) { held.open = true; plot(); }
  });
}
