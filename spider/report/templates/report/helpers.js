const PAGE = 48;
const BRANCHES = 100;
const FINDS = 20;
const [KIND, URL_, ON, TEXT, NAME, FORMAT, MIME, POSTER, LENGTH, SIZE, FIRST, GONE, SOURCE, NEW, HEALTH, STATUS, CHECKED, MOVED] = [...Array(18).keys()];
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
