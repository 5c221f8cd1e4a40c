// The explorer: search, list, timeline, merges and worlds beside a graph, at any moment on both axes.
// Everything that comes from the memory is put on the page as text, never as markup.

import { Graph } from "./graph.js";

const $ = (id) => document.getElementById(id);
const state = { tab: "search", question: "", asked: false, ref: null, trail: [], depth: 1, valid: null, known: null, span: null, list: { type: "", retired: false } };
const STEPS = 1000;
let turn = 0;

// Building the page ---------------------------------------------------------------------------------

/** An element; `given` holds properties, `data`/`aria` attributes and `on…` handlers. */
function h(name, given = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key.includes("-") || key === "role") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...inside.flat().filter((item) => item !== null && item !== undefined && item !== false));
  return element;
}

const empty = (title, ...told) => h("div", { className: "card empty" }, h("h2", {}, title), ...told.map((item) => h("p", {}, item)));
const code = (text) => h("code", {}, text);
const titled = (node) => node.type === "Turn" || node.type === "Fact" ? (node.content || node.name) : node.name || node.content;

function day(iso, exact = false) {
  if (!iso) return null;
  const text = iso.replace("T", " ").replace(/(:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/, (_, s, f, z) => (exact ? s + (f || "") : "") + (z === "Z" ? "" : " " + z));
  return text.replace(/ 00:00$/, "");
}
/** A day, month or year is one wherever it was said, not the UTC instant of the day before. */
const calendar = (iso, precision) => new Date(Date.parse(iso) + 432e5).toISOString().slice(0, { year: 4, decade: 4, month: 7 }[precision] || 10);
function held(interval, precision) {
  const whole = precision && !["hour", "minute", "second"].includes(precision);
  const apart = whole && interval.to ? (Date.parse(interval.to) - Date.parse(interval.from) + 36e5) % 864e5 : 864e5;
  const from = whole && interval.from ? calendar(interval.from, precision) : day(interval.from);
  const to = whole && interval.to && apart <= 72e5 ? calendar(interval.to, "day") : day(interval.to);
  return to ? `${from || "always"} → ${to}` : from ? `since ${from}` : "always";
}
const isOver = (node, at = Date.now()) => Boolean(node.valid.to && Date.parse(node.valid.to) <= at) || isGivenUp(node);
const isGivenUp = (node) => Boolean(node.known.to) && (state.known === null || Date.parse(node.known.to) <= state.known);

// Talking to the server -----------------------------------------------------------------------------

class Problem extends Error { constructor(status, detail) { super(detail); this.status = status; } }

function bound(past = true) {
  const query = new URLSearchParams(), whose = $("scope").value;
  if (whose) { const [kind, ...name] = whose.split(":"); query.set(kind, name.join(":")); }
  if (past && state.valid !== null) query.set("valid_at", iso(state.valid));
  if (past && state.known !== null) query.set("known_at", iso(state.known));
  return query;
}
const iso = (at) => new Date(at).toISOString();

async function api(path, { query = {}, body, past = true } = {}) {
  const asked = bound(past);
  for (const [key, value] of Object.entries(query)) if (value !== "" && value !== null && value !== undefined) asked.set(key, value);
  const headers = {}, token = sessionStorage.getItem("worldline-token");
  if (token) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(`/v1/${path}?${asked}`, { method: body === undefined ? "GET" : "POST", headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch { throw new Problem(0, "the server does not answer"); }
  const value = await answer.json().catch(() => ({ detail: `the server answered ${answer.status} without JSON` }));
  if (!answer.ok) throw new Problem(answer.status, value.detail);
  return value;
}
const at = (ref, verb = "") => `memories/${encodeURIComponent(ref)}${verb && "/" + verb}`;

function tell(problem) {
  const again = h("button", { type: "button", onclick: () => { $("notice").replaceChildren(); start(); } }, "Try again");
  if (problem.status === 401) {
    const input = h("input", { type: "password", required: true, "aria-label": "Token", autocomplete: "off" });
    const send = (e) => { e.preventDefault(); sessionStorage.setItem("worldline-token", input.value.trim()); $("notice").replaceChildren(); start(); };
    $("notice").replaceChildren("This memory is protected. Paste a token that its operator gave you:", h("form", { onsubmit: send }, input, h("button", { className: "strong" }, "Open")));
    input.focus();
  } else if (problem.status === 0) {
    $("notice").replaceChildren("Cannot reach the memory. Is ", code("worldline serve"), " still running?", again);
  } else $("notice").replaceChildren(problem.message, again);
}

/** Runs the work of one panel; only the newest run may show its result. */
async function showing(box, work) {
  const mine = (box.turn = ++turn);
  box.setAttribute("aria-busy", "true");
  try {
    const content = await work();
    if (box.turn === mine) box.replaceChildren(...[content].flat().filter(Boolean));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (box.turn !== mine) return;
    if (problem.status === 0 || problem.status === 401) { tell(problem); box.replaceChildren(); }
    else box.replaceChildren(empty("That did not work", problem.message));
  } finally { if (box.turn === mine) box.setAttribute("aria-busy", "false"); }
}

// Search --------------------------------------------------------------------------------------------

async function search() {
  if (!state.question) return welcome();
  const found = await api("recall", { body: { question: state.question, explain: true, max_tokens: 60000 } });
  const trace = h("details", {}, h("summary", {}, "How it was found"), h("p", { className: "trace mono" }, found.trace.join("\n")));
  if (!found.hits.length) {
    const past = state.valid !== null || state.known !== null;
    return [empty("Nothing found", `${found.reason || "no memory fits"}.`, past ? "You are looking at the past: “Back to now” shows what is known today." : "Try a name or a word that was really used; the List shows what is there."), h("div", { className: "card" }, trace)];
  }
  const opening = found.abstained && h("div", { className: "card unsure" }, h("b", {}, "Not sure that this is known. "), found.reason);
  const told = h("div", { className: "soft" }, `${found.returned} of ${found.found} hits`, trace);
  return [opening, told, ...found.hits.map(hitCard)].filter(Boolean);
}

async function welcome() {
  const stats = await api("stats"), count = Object.entries(stats.visible).filter(([type]) => type !== "Scope").reduce((sum, [, n]) => sum + n, 0);
  if (!count) return nothingYet();
  const kinds = Object.entries(stats.visible).filter(([type]) => type !== "Scope").map(([type, n]) => h("span", { className: "chip" }, `${n.toLocaleString("en")} ${type}`));
  return h("div", { className: "card empty" }, h("h2", {}, "Ask a question"), h("p", {}, "Answers come word for word, with the reasons for their place. Move the two sliders to see what held, and what was known, at another moment."), h("div", { className: "chips" }, kinds));
}
function nothingYet() {
  const past = state.valid !== null || state.known !== null;
  if (past) return empty("Nothing yet at that moment", "The memory was empty then. Move the sliders to the right, or go back to now.");
  return empty("Nothing is remembered yet", ["Tell it something: ", code('worldline add "We moved to the gold tier." --speaker Ana')], ["Or connect an agent: ", code("claude mcp add memory -- worldline mcp")]);
}

function hitCard(hit, place) {
  const node = hit.node, lanes = Object.entries(hit.lanes).map(([lane, at]) => h("span", { className: "chip" }, at ? `${lane} #${at}` : lane));
  const factors = Object.entries(hit.factors).filter(([, given]) => Math.abs(given) >= 0.005).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const most = Math.max(...factors.map(([, given]) => Math.abs(given)), 0.01);
  const bars = factors.slice(0, 12).flatMap(([name, given]) => {
    const bar = h("i", { className: given < 0 ? "minus" : "" });
    bar.style.width = `${Math.round(100 * Math.abs(given) / most)}%`;
    return [h("span", {}, name), h("span", { className: "meter" }, bar), h("b", {}, given.toFixed(2))];
  });
  return card(node, {
    who: hit.speaker, when: hit.said_at, className: "hit",
    below: [
      h("div", { className: "chips" }, `#${place + 1} · score ${hit.score.toFixed(2)}`, ...lanes, hit.session && h("span", { className: "chip" }, `session ${hit.session}`)),
      bars.length ? h("details", { open: place === 0 }, h("summary", {}, "What gave it this place"), h("div", { className: "factors" }, bars)) : null,
    ],
  });
}

/** One memory: what it is, when it held, its words. */
function card(node, { who = "", when = null, below = [], className = "" } = {}) {
  const spoken = node.type === "Turn", name = spoken ? who || node.name || "somebody" : node.type === "Fact" ? node.content : node.name || "(no name)";
  const chosen = state.ref && state.ref === node.lineage;
  return h("article", { className: `card ${className} ${chosen ? "chosen" : ""}`, "data-id": node.lineage },
    h("div", { className: "head" },
      h("span", { className: "badge" }, spoken ? "said" : node.type), isOver(node, state.valid ?? Date.now()) && h("span", { className: "badge over" }, "over"),
      node.status !== "believed" && h("span", { className: `badge ${node.status === "quarantined" ? "bad" : ""}` }, node.status),
      h("button", { className: "name", type: "button", onclick: () => choose(node.lineage) }, name),
      h("span", { className: "when" }, when ? day(when) : held(node.valid, node.precision))),
    node.type !== "Fact" && node.content ? h("blockquote", {}, node.content) : null,
    node.notes.map((note) => h("div", { className: "note" }, `⚠ ${note}`)), below);
}

// List, timeline, merges, worlds --------------------------------------------------------------------

async function list() {
  const stats = await api("stats"), types = Object.keys(stats.visible).filter((type) => !["Scope", "Session"].includes(type));
  const page = await pageOf(null);
  const chooser = h("select", { "aria-label": "Type", onchange: (e) => { state.list.type = e.target.value; render(); } }, h("option", { value: "" }, "all but words and facts"), types.map((type) => h("option", { value: type, selected: type === state.list.type }, type === "Turn" ? "Turn (what was said)" : type)));
  const toggle = h("label", { className: "soft" }, h("input", { type: "checkbox", id: "retired", checked: state.list.retired, onchange: (e) => { state.list.retired = e.target.checked; render(); } }), " also what is over");
  const head = h("div", { className: "row" }, chooser, toggle);
  if (!page.items.length) return [head, state.list.type ? empty("None of this type", "Choose another type, or all.") : nothingYet()];
  return [head, ...page.items.map((node) => card(node)), more(page.next)];
}
const pageOf = (page) => api("memories", { query: { type: state.list.type, include_superseded: state.list.retired, limit: 30, page } });
function more(next) {
  if (!next) return null;
  const button = h("button", { type: "button", onclick: async () => {
    try { const page = await pageOf(next); button.replaceWith(...[...page.items.map((node) => card(node)), more(page.next)].filter(Boolean)); }
    catch (problem) { tell(problem); }
  } }, "More");
  return button;
}

async function timeline() {
  const asked = ["", "Fact", "Turn"].map((type) => api("memories", { query: { type, include_superseded: true, limit: 80 } }));
  const nodes = (await Promise.all(asked)).flatMap((page) => page.items).filter((node) => node.valid.from && node.status !== "quarantined" && !isGivenUp(node));
  if (!nodes.length) return nothingYet();
  const rows = new Map();
  for (const node of nodes) rows.set(node.lineage, [...(rows.get(node.lineage) || []), node]);
  const starts = nodes.map((node) => Date.parse(node.valid.from)), ends = nodes.map((node) => node.valid.to ? Date.parse(node.valid.to) : 0);
  const now = state.valid ?? Date.now(), from = Math.min(...starts, now), to = Math.max(...starts, ...ends, now), wide = (to - from) || 1, where = (t) => 100 * (t - from) / wide;
  const lines = [...rows.values()].sort((a, b) => Math.min(...a.map((n) => Date.parse(n.valid.from))) - Math.min(...b.map((n) => Date.parse(n.valid.from)))).map((versions) => {
    const newest = versions.reduce((a, b) => a.valid.from > b.valid.from ? a : b), cursor = h("span", { className: "tl-cursor" });
    cursor.style.left = `${where(now)}%`;
    const bars = versions.map((node) => {
      const begin = where(Date.parse(node.valid.from)), end = node.valid.to ? where(Date.parse(node.valid.to)) : 100, point = node.type === "Turn";
      const bar = h("span", { className: `tl-bar ${point ? "point" : node.valid.to ? "over" : "open"}`, title: `${titled(node)}: ${node.type === "Turn" ? "" : node.content}\n${held(node.valid, node.precision)}` });
      bar.style.left = `${point ? Math.min(begin, 97) : begin}%`;
      if (!point) bar.style.width = `${Math.max(0.6, end - begin)}%`;
      return bar;
    });
    return h("div", { className: "tl-row" }, h("button", { className: "name", type: "button", title: titled(newest), onclick: () => choose(newest.lineage) }, titled(newest)), h("div", { className: "tl-track" }, cursor, ...bars));
  });
  return h("div", { className: "card lines", id: "timeline" }, h("div", { className: "tl-axis" }, h("span", {}, day(iso(from)).slice(0, 10)), h("span", { className: "soft" }, "when each memory held; the line is the moment you look at"), h("span", {}, day(iso(to)).slice(0, 10))), ...lines);
}

async function merges() {
  const found = await api("merges", { query: { status: "all" }, past: false });
  if (!found.length) return empty("No merge proposals", "When two memories look like the same person or thing, the proposal waits here. Nothing is ever merged silently.");
  const order = { pending: 0, accepted: 1, rejected: 2, undone: 3 };
  return found.sort((a, b) => order[a.proposal.status] - order[b.proposal.status]).map(({ proposal, a_name, b_name }) => {
    const decide = (verb, name, strong) => h("button", { type: "button", className: strong ? "strong" : "", onclick: async (e) => {
      e.target.disabled = true;
      try { await api(`merges/${proposal.id}/${verb}`, { body: {}, past: false }); } catch (problem) { tell(problem); }
      await counted(); render(); if (state.ref) focus();
    } }, name);
    const actions = { pending: [decide("accept", "Accept", true), decide("reject", "Reject")], accepted: [decide("undo", "Undo")] }[proposal.status] || [];
    return h("article", { className: "card merge", "data-id": proposal.id },
      h("div", { className: "head" }, h("button", { type: "button", className: "name", onclick: () => choose(proposal.a) }, a_name), "=", h("button", { type: "button", className: "name", onclick: () => choose(proposal.b) }, b_name), h("span", { className: `badge ${proposal.status === "pending" ? "over" : ""}` }, proposal.status)),
      h("div", { className: "row" }, h("span", { className: "soft grow" }, `${proposal.tier}, score ${proposal.score.toFixed(2)}${proposal.reason ? ": " + proposal.reason : ""}`), ...actions));
  });
}

async function worlds() {
  const found = await api("worlds");
  const whole = h("article", { className: "card" }, h("div", { className: "head" }, h("b", {}, "Everything")), h("div", { className: "mono hash" }, found.hash), h("p", { className: "soft" }, "A hash covers all that was ever put inside, so two memories with the same hash hold the same."));
  if (!found.worlds.length) return [whole, empty("No worlds yet", ["A memory that contains others is a world: ", code("worldline note learning NAME --world ID")])];
  return [whole, ...found.worlds.map(({ hash, node }) => h("article", { className: "card world" }, h("div", { className: "head" }, h("span", { className: "badge" }, node.type), h("button", { type: "button", className: "name", onclick: () => choose(node.lineage) }, titled(node) || node.type)), h("div", { className: "mono hash" }, hash)))];
}

// The chosen memory and its graph -------------------------------------------------------------------

// A memory is chosen by its lineage: that leads to whatever version holds at the moment looked at.
const graph = new Graph($("graph"), (node) => choose(node.lineage));

function choose(ref, { back = false } = {}) {
  if (!back && state.ref && state.ref !== ref) state.trail.push(state.ref);
  state.ref = ref;
  $("back").disabled = !state.trail.length;
  for (const item of document.querySelectorAll("#panel .card[data-id]")) item.classList.toggle("chosen", item.dataset.id === ref);
  focus();
}

async function focus() {
  if (!state.ref) { $("graph-empty").textContent = "Choose a memory to see what lies around it"; return; }
  await showing($("detail"), async () => {
    try {
      const [node, history, why, around] = await Promise.all([api(at(state.ref)).catch((p) => gone(p)), api(at(state.ref, "history")), api(at(state.ref, "why")), api("query", { body: { seeds: [state.ref], steps: [{ follow: { way: "both", depth: state.depth } }], include_superseded: true, limit: 400 } })]);
      draw(node, history, around);
      return detail(node, history, why);
    } catch (problem) {
      graph.clear(); $("graph-empty").textContent = "";
      if (problem.status !== 404) throw problem;
      return empty("Not known at that moment", "The memory that you chose had not been learned yet. Move “What was known” to the right, or go back to now.");
    }
  });
}
function gone(problem) { if (problem.status === 404) return null; throw problem; }

function detail(node, history, why) {
  if (!node) {
    const last = history.at(-1)?.node;
    return [h("div", { className: "card" }, h("div", { className: "head" }, h("span", { className: "badge over" }, "not there"), h("b", {}, last ? titled(last) : "")), h("p", { className: "soft" }, "At the moment that you look at, this did not hold or was not known. Its history tells why.")), historyCard(history)];
  }
  const rows = [["Held", held(node.valid, node.precision)], ["Known", held(node.known)], ["Id", node.id.slice(0, 16)]];
  if (node.confidence !== null) rows.push(["Confidence", String(node.confidence)]);
  if (node.reason) rows.push(["Because", node.reason]);
  if (node.world) rows.push(["In world", node.world.slice(0, 16)]);
  if (Object.keys(node.metadata).length) rows.push(["Metadata", JSON.stringify(node.metadata)]);
  const words = why.reasons.filter((reason) => reason.node.content).slice(0, 8).map((reason) => h("div", {}, h("div", { className: "soft" }, `${reason.node.type === "Turn" ? reason.node.name || "somebody" : titled(reason.node)}, ${held(reason.node.valid, reason.node.precision).replace("since ", "")}`), quoted(reason)));
  return [h("div", { className: "card" }, h("div", { className: "head" }, h("span", { className: "badge" }, node.type), h("b", {}, titled(node))), node.content && node.content !== titled(node) ? h("blockquote", {}, node.content) : null, node.notes.map((note) => h("div", { className: "note" }, `⚠ ${note}`)), h("dl", { className: "facts" }, rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])), words.length ? [h("h3", {}, "The words that it rests on"), ...words] : null), historyCard(history)];
}
function quoted(reason) {
  const text = reason.node.content;
  if (!reason.span) return h("blockquote", {}, text);
  const letters = [...text], [from, to] = reason.span;  // the server counts characters, not UTF-16 units
  return h("blockquote", {}, letters.slice(0, from).join(""), h("mark", {}, letters.slice(from, to).join("")), letters.slice(to).join(""));
}
function historyCard(history) {
  return h("div", { className: "card" }, h("h3", {}, "Every belief held in it"), h("ol", { className: "history" }, history.map(({ node, change }) => h("li", { className: node.known.to ? "" : "held" }, h("b", {}, change), ` · ${node.type === "Turn" || node.type === "Fact" ? node.content : node.content || node.name}`, h("div", { className: "soft" }, `held ${held(node.valid, node.precision)} · believed ${held(node.known)}`)))));
}

function draw(node, history, around) {
  const moment = state.valid ?? Date.now(), nodes = new Map(), edges = [];
  const add = (item, ghost) => { if (!nodes.has(item.id)) nodes.set(item.id, { id: item.id, lineage: item.lineage, type: item.type, title: titled(item) || item.type, ghost }); };
  const centre = node || history.at(-1)?.node;
  if (!centre) { graph.clear(); return; }
  add(centre, !node);
  const older = [...new Map(history.map((v) => [v.node.id, v])).values()].filter((v) => v.node.id !== centre.id && Date.parse(v.node.valid.from || 0) <= moment);
  let newer = centre.id;
  for (const version of older.reverse()) { add(version.node, true); edges.push({ src: newer, dst: version.node.id, type: "supersedes" }); newer = version.node.id; }
  for (const item of around.nodes.slice(0, 120)) if (Date.parse(item.valid.from || 0) <= moment || !item.valid.from) add(item, isOver(item, moment));
  const lines = new Map();
  for (const item of nodes.values()) if (!lines.has(item.lineage) || !item.ghost) lines.set(item.lineage, lines.get(item.lineage) && item.ghost ? lines.get(item.lineage) : item.id);
  const end = (ref) => nodes.has(ref) && !lines.has(ref) ? ref : lines.get(ref) ?? (nodes.has(ref) ? ref : null);
  const drawn = new Set(edges.map((edge) => `${edge.src} ${edge.type} ${edge.dst}`));
  for (const edge of around.edges) {
    const version = edge.type === "supersedes", src = version && nodes.has(edge.src) ? edge.src : end(edge.src), dst = version && nodes.has(edge.dst) ? edge.dst : end(edge.dst);
    const ended = edge.type !== "supersedes" && ((edge.valid.to && Date.parse(edge.valid.to) <= moment) || (edge.valid.from && Date.parse(edge.valid.from) > moment));
    const label = edge.metadata.predicate || edge.type, key = `${src} ${label} ${dst}`;
    if (src && dst && src !== dst && !ended && !drawn.has(key)) { drawn.add(key); edges.push({ src, dst, type: edge.type, label }); }
  }
  const joined = new Set(edges.flatMap((edge) => [edge.src, edge.dst]));
  const kept = [...nodes.values()].filter((item) => item.id === centre.id || joined.has(item.id));
  graph.show({ nodes: kept, edges, centre: centre.id });
  $("graph-empty").textContent = kept.length > 1 ? "" : "Nothing is linked to this memory (yet)";
  if (around.nodes.length > 120) $("graph-empty").textContent = `the first 120 of ${around.nodes.length} neighbours`;
}

// The time machine ----------------------------------------------------------------------------------

/** The ends of a slider: a little before the first moment, and now or the last moment. */
function range(axis) {
  const known = state.span?.[axis];
  if (!known) return null;
  const first = Date.parse(known.from), last = axis === "valid" ? Math.max(Date.parse(known.to), Date.now()) : Date.parse(known.to), wide = Math.max(last - first, 20);
  return [first - wide / 50, last + (axis === "known" ? wide / 50 : 0)];
}
function moved(axis) {
  const ends = range(axis), value = Number($(axis).value);
  const before = ends ? ends[0] + (ends[1] - ends[0]) * value / STEPS : null;
  const isNow = !ends || (axis === "known" ? value === STEPS : value === STEPS && Date.parse(state.span.valid.to) <= Date.now());
  state[axis] = isNow ? null : Math.round(before);
  told(axis);
}
function told(axis) {
  const output = $(`${axis}-told`), ends = range(axis), fine = ends && ends[1] - ends[0] < 2 * 86400e3;
  output.textContent = state[axis] === null ? "now" : day(iso(state[axis]), fine && ends[1] - ends[0] < 6e5).slice(0, fine ? 22 : 16);
  output.classList.toggle("moved", state[axis] !== null);
  $(axis).setAttribute("aria-valuetext", output.textContent);
  const past = state.valid !== null || state.known !== null;
  document.body.classList.toggle("past", past);
  $("now").disabled = !past;
}
let waiting;
for (const axis of ["valid", "known"]) $(axis).addEventListener("input", () => { moved(axis); clearTimeout(waiting); waiting = setTimeout(() => { render(); focus(); }, 120); });
$("now").addEventListener("click", () => { toNow(); render(); focus(); });
function toNow() {
  for (const axis of ["valid", "known"]) {
    const ends = range(axis);
    state[axis] = null;
    $(axis).value = axis === "valid" && ends ? Math.round(STEPS * (Date.now() - ends[0]) / (ends[1] - ends[0])) : STEPS;
    told(axis);
  }
}

// Putting it together -------------------------------------------------------------------------------

const PANELS = { search, list, timeline, merges, worlds };
function render() {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const mine = tab.dataset.tab === state.tab;
    tab.setAttribute("aria-selected", mine); tab.tabIndex = mine ? 0 : -1;
  }
  $("panel").setAttribute("aria-labelledby", `tab-${state.tab}`);
  return showing($("panel"), PANELS[state.tab]);
}
function open(tab) { state.tab = tab; return render(); }
async function counted() {
  const pending = await api("merges", { past: false }).catch(() => []);
  $("merge-count").textContent = pending.length || "";
}

$("tabs").addEventListener("click", (e) => { const tab = e.target.closest("[role=tab]"); if (tab) open(tab.dataset.tab); });
$("tabs").addEventListener("keydown", (e) => {
  const all = [...document.querySelectorAll("[role=tab]")], step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  const next = all[(all.findIndex((tab) => tab.dataset.tab === state.tab) + step + all.length) % all.length];
  e.preventDefault(); next.focus(); open(next.dataset.tab);
});
$("search").addEventListener("submit", async (e) => {
  e.preventDefault();
  state.question = $("q").value.trim();
  await open("search");
  const best = document.querySelector("#panel .hit");
  if (best) choose(best.dataset.id);
});
$("scope").addEventListener("change", () => { state.ref = null; state.trail = []; graph.clear(); $("detail").replaceChildren(); begin(); });
$("back").addEventListener("click", () => { if (state.trail.length) choose(state.trail.pop(), { back: true }); });
$("zoom-in").addEventListener("click", () => graph.zoom(1.25));
$("zoom-out").addEventListener("click", () => graph.zoom(1 / 1.25));
$("fit").addEventListener("click", () => graph.fit());
$("deeper").addEventListener("click", (e) => { state.depth = state.depth === 1 ? 2 : 1; e.target.setAttribute("aria-pressed", state.depth === 2); focus(); });
addEventListener("keydown", (e) => { if (e.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); $("q").focus(); } });
addEventListener("resize", () => graph.fit());

async function begin() {
  state.span = await api("span", { past: false });
  for (const axis of ["valid", "known"]) $(axis).disabled = !range(axis);
  toNow();
  await Promise.all([render(), focus(), counted()]);
}
async function start() {
  try {
    const scopes = await api("scopes", { past: false }), chosen = $("scope").value;
    $("scope").replaceChildren(h("option", { value: "" }, "everybody"), ...Object.entries(scopes).flatMap(([kind, names]) => names.map((name) => h("option", { value: `${kind}:${name}`, selected: chosen === `${kind}:${name}` }, `${kind} ${name}`))));
    await begin();
  } catch (problem) { if (!(problem instanceof Problem)) throw problem; tell(problem); $("panel").setAttribute("aria-busy", "false"); }
}
start();
