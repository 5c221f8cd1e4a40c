// The explorer: search, list, timeline, merges and worlds beside a graph, at any moment on both axes.
// Everything that comes from the memory is put on the page as text, never as markup.

import { Graph } from "./graph.js";

const $ = (id) => document.getElementById(id);
const state = { tab: "search", question: "", asked: false, ref: null, trail: [], depth: 1, wide: new Set(), window: null, valid: null, known: null, span: null, list: { type: "", retired: false } };
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
const KIND = { Turn: "said", Fact: "fact", Entity: "name", Topic: "topic", Summary: "summary" };
const kind = (node) => KIND[node.type] || node.type;
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
const number = (n, one, many) => `${n} ${n === 1 ? one : many}`;
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
  const told = h("div", { className: "soft" }, found.returned < found.found ? `the ${found.returned} that stand out, of ${found.found} found` : `${found.returned} found`, trace);
  return [answerCard(found), opening, told, ...found.hits.map(hitCard)].filter(Boolean);
}

/** The answer, what proves it, and what else is believed of the matter. */
function answerCard(found) {
  const cited = (item) => h("li", {}, h("button", { type: "button", className: "name", onclick: () => choose(item.id) }, item.text), item.since ? h("span", { className: "soft" }, ` ${item.until ? `${item.since} → ${item.until}` : `since ${item.since}`}`) : null);
  if (found.answer === null && !found.facts.length) return null;
  return h("div", { className: "card answer", id: "answer" },
    found.answer !== null && [h("div", { className: "soft" }, `Answer · ${Math.round(100 * found.confidence)} % sure`), h("p", { className: "said" }, found.answer)],
    found.proof.length ? [h("div", { className: "soft" }, "because"), h("ul", { className: "proof" }, found.proof.map(cited))] : null,
    found.facts.length ? h("details", { open: found.answer === null }, h("summary", {}, "Also believed"), h("ul", { className: "proof" }, found.facts.map(cited))) : null);
}

const SMALL = new Set("the and for are was were what which who whom whose when where why how does did has have had with from that this about into".split(" "));
const wordsOf = (text) => new Set((text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) || []).filter((word) => !SMALL.has(word)));
/** Why a hit stands where it does, as a person would say it. */
function because(hit) {
  const said = [], gave = (name) => hit.factors[name] || 0, asked = wordsOf(state.question), own = wordsOf(`${hit.node.type === "Turn" ? "" : hit.node.name} ${hit.node.content}`);
  const shared = (state.question.match(/[\p{L}\p{N}]{3,}/gu) || []).filter((word) => own.has(word.toLowerCase()) && asked.has(word.toLowerCase())).slice(0, 4);
  if (shared.length) said.push(`says ${shared.map((word) => `“${word}”`).join(", ")}`);
  if (hit.speaker && asked.has(hit.speaker.toLowerCase())) said.push(`said by ${hit.speaker}`);
  if (gave("window") > 0 || gave("when") > 0) said.push("from the time asked about");
  if (gave("kind") > 0) said.push("of the kind asked for");
  if (gave("meets") > 1 && !shared.length) said.push("meets the question in other words");
  if (gave("meaning") > 0.3) said.push("near it in meaning");
  if (gave("instruction") > 0 || gave("preference") > 0) said.push("tells what is wanted");
  if (gave("session best") + gave("session cover") + gave("around") > 1) said.push("the talk around it is about this");
  if (gave("this session") > 0) said.push("from this session");
  return said.length ? said.join(" · ") : "the nearest that was found";
}

async function welcome() {
  const stats = await api("stats"), count = Object.entries(stats.visible).filter(([type]) => type !== "Scope").reduce((sum, [, n]) => sum + n, 0);
  if (!count) return nothingYet();
  const kinds = Object.entries(stats.visible).filter(([type]) => type !== "Scope").map(([type, n]) => h("span", { className: "chip" }, `${n.toLocaleString("en")} ${LISTED[type] || type}`));
  return h("div", { className: "card empty" }, h("h2", {}, "Ask a question"), h("p", {}, "Answers come word for word, with the reasons for their place. Move the two sliders to see what held, and what was known, at another moment."), h("div", { className: "chips" }, kinds));
}
function nothingYet(form = true) {
  const past = state.valid !== null || state.known !== null;
  if (past) return empty("Nothing yet at that moment", "The memory was empty then. Move the sliders to the right, or go back to now.");
  const told = empty("Nothing is remembered yet", ["Tell it something here, or in a shell: ", code('worldline add "We moved to Rome." --speaker Ana')], ["Or connect an agent: ", code("worldline install claude-code"), " (or cursor, vscode, codex …)"]);
  return form ? [adding(true), told] : told;
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
      h("div", { className: "because" }, because(hit)),
      h("details", {}, h("summary", {}, "The numbers behind it"), h("div", { className: "chips" }, `#${place + 1} · score ${hit.score.toFixed(2)} (${hit.points.toFixed(2)} points)`, ...lanes, hit.session && h("span", { className: "chip" }, `session ${hit.session}`)), h("div", { className: "factors" }, bars)),
    ],
  });
}

/** One memory: what it is, when it held, its words. */
function card(node, { who = "", when = null, below = [], className = "" } = {}) {
  const spoken = node.type === "Turn", name = spoken ? who || node.name || "somebody" : node.type === "Fact" ? node.content : node.name || "(no name)";
  const chosen = state.ref && (state.ref === node.lineage || state.ref === node.id);
  return h("article", { className: `card ${className} ${chosen ? "chosen" : ""}`, "data-id": node.lineage },
    h("div", { className: "head" },
      h("span", { className: "badge" }, kind(node)), isOver(node, state.valid ?? Date.now()) && h("span", { className: "badge over" }, "over"),
      node.status !== "believed" && h("span", { className: `badge ${node.status === "quarantined" ? "bad" : ""}` }, node.status),
      h("button", { className: "name", type: "button", onclick: () => choose(node.lineage) }, name),
      h("span", { className: "when" }, when ? day(when) : spoken ? day(node.valid.from) : node.valid.from ? held(node.valid, node.precision) : "")),
    node.type !== "Fact" && node.content ? h("blockquote", {}, node.content) : null,
    node.notes.map((note) => h("div", { className: "note" }, `⚠ ${note}`)), below);
}

// List, timeline, merges, worlds --------------------------------------------------------------------

async function list() {
  const stats = await api("stats"), types = Object.keys(stats.visible).filter((type) => !["Scope", "Session"].includes(type));
  const page = await pageOf(null);
  const chooser = h("select", { "aria-label": "Type", onchange: (e) => { state.list.type = e.target.value; render(); } }, h("option", { value: "" }, "what was added"), types.map((type) => h("option", { value: type, selected: type === state.list.type }, LISTED[type] || type)));
  const toggle = h("label", { className: "soft" }, h("input", { type: "checkbox", id: "retired", checked: state.list.retired, onchange: (e) => { state.list.retired = e.target.checked; render(); } }), " also what is over");
  const head = h("div", { className: "stack" }, adding(), h("div", { className: "row" }, chooser, toggle));
  if (!page.items.length) return [head, state.list.type ? empty("None of this type", "Choose another type, or all.") : nothingYet(false)];
  return [head, ...bestNamed(page.items).map((node) => card(node, { who: node.name })), more(page.next)];
}
const LISTED = { Turn: "messages", Fact: "facts", Entity: "names and things", Topic: "topics", Summary: "summaries" };
/** Of names and things, names come first: "Ana" before "late" and "47 minutes". */
const bestNamed = (nodes) => state.list.type === "Entity" ? [...nodes].sort((a, b) => /^[a-z0-9]/.test(a.name) - /^[a-z0-9]/.test(b.name)) : nodes;
/** A form that remembers something. */
function adding(open = false) {
  const text = h("textarea", { rows: 2, required: true, placeholder: "Tell it something…", "aria-label": "What to remember" }), who = h("input", { placeholder: "Who says so", "aria-label": "Speaker" });
  const send = async (e) => { e.preventDefault(); await written(`remember`, { text: text.value, speaker: who.value.trim() }, "Remembered"); };
  return h("details", { className: "card", id: "adding", open }, h("summary", {}, "Add something"), h("form", { className: "stack", onsubmit: send }, text, h("div", { className: "row" }, who, h("button", { className: "strong" }, "Remember"))));
}

/** Sends a write, shows its receipt with an undo, and looks again. */
async function written(path, body, verb) {
  try {
    const receipt = await api(path, { body, past: false });
    const all = receipt.changes.filter((line) => line.includes(": ")).map((line) => line.split(/: (?=believed|closes|ends|given|repeats|adds|over|contradicts|the next|withdrawn)/)[0]);
    const lines = all.filter((line) => !all.some((other) => other !== line && other.startsWith(`${line} `))); // "Bo keeps bees in Oslo" says that Bo keeps bees
    const undo = h("button", { type: "button", onclick: async () => {
      try { await api("undo", { body: { known_at: receipt.known_at, also: receipt.also }, past: false }); $("receipt").replaceChildren("Undone."); await again(); } catch (problem) { tell(problem); }
    } }, "Undo");
    $("receipt").replaceChildren(h("span", {}, receipt.changed ? `${verb}.` : "That was so already; nothing changed."), ...lines.slice(0, 4).map((line) => h("span", { className: "chip" }, line)), receipt.changed && undo);
    await again();
  } catch (problem) { tell(problem); }
}
async function again() { state.span = await api("span", { past: false }); ends(); await Promise.all([render(), focus(), counted()]); }

const pageOf = (page) => api("memories", { query: { type: state.list.type, include_superseded: state.list.retired, limit: 30, page } });
function more(next) {
  if (!next) return null;
  const button = h("button", { type: "button", onclick: async () => {
    try { const page = await pageOf(next); button.replaceWith(...[...bestNamed(page.items).map((node) => card(node, { who: node.name })), more(page.next)].filter(Boolean)); }
    catch (problem) { tell(problem); }
  } }, "More");
  return button;
}

async function timeline() {
  const asked = ["", "Fact"].map((type) => api("memories", { query: { type, include_superseded: true, limit: 80 } }));
  const nodes = (await Promise.all(asked)).flatMap((page) => page.items).filter((node) => node.valid.from && node.status !== "quarantined" && !isGivenUp(node));
  if (!nodes.length) return nothingYet();
  const rows = new Map();
  for (const node of nodes) rows.set(node.lineage, [...(rows.get(node.lineage) || []), node]);
  const starts = nodes.map((node) => Date.parse(node.valid.from)), ends = nodes.map((node) => node.valid.to ? Date.parse(node.valid.to) : 0);
  const now = state.valid ?? Date.now(), all = [Math.min(...starts, now), Math.max(...starts, ...ends, now)];
  const [from, to] = state.window || all, wide = (to - from) || 1, where = (t) => 100 * (t - from) / wide;
  const seen = (node) => Date.parse(node.valid.from) <= to && (node.type === "Turn" ? Date.parse(node.valid.from) >= from : !node.valid.to || Date.parse(node.valid.to) >= from);
  for (const [line, versions] of rows) if (!versions.some(seen)) rows.delete(line);
  const lines = [...rows.values()].sort((a, b) => Math.min(...a.map((n) => Date.parse(n.valid.from))) - Math.min(...b.map((n) => Date.parse(n.valid.from)))).map((versions) => {
    const newest = versions.reduce((a, b) => a.valid.from > b.valid.from ? a : b), cursor = h("span", { className: "tl-cursor" });
    cursor.style.left = `${where(now)}%`; cursor.hidden = now < from || now > to;
    const bars = versions.filter(seen).map((node) => {
      const begin = Math.max(0, where(Date.parse(node.valid.from))), end = node.valid.to ? Math.min(100, where(Date.parse(node.valid.to))) : 100, point = node.type === "Turn";
      const bar = h("span", { className: `tl-bar ${point ? "point" : node.valid.to ? "over" : "open"}`, title: `${titled(node)}: ${node.type === "Turn" ? "" : node.content}\n${held(node.valid, node.precision)}` });
      bar.style.left = `${point ? Math.min(begin, 97) : begin}%`;
      if (!point) bar.style.width = `${Math.max(0.6, end - begin)}%`;
      return bar;
    });
    return h("div", { className: "tl-row" }, h("button", { className: "name", type: "button", title: titled(newest), onclick: () => choose(newest.lineage) }, titled(newest)), h("div", { className: "tl-track" }, cursor, ...bars));
  });
  const grid = ticks(from, to), marks = grid.map(({ at: t, name }) => { const mark = h("span", { className: `tl-tick ${where(t) > 96 ? "right" : ""}` }, name); mark.style.left = `${where(t)}%`; return mark; });
  for (const line of lines) line.lastChild.prepend(...grid.map(({ at: t }) => { const rule = h("i", { className: "tl-rule" }); rule.style.left = `${where(t)}%`; return rule; }));
  const zoom = (by) => { const middle = (from + to) / 2, half = wide * by / 2; state.window = half * 2 >= all[1] - all[0] ? null : [middle - half, middle + half]; render(); };
  const shift = (by) => { state.window = [from + wide * by, to + wide * by]; render(); };
  const tool = (name, title, work) => h("button", { type: "button", title, "aria-label": title, onclick: work }, name);
  const tools = h("div", { className: "row tl-tools" }, h("span", { className: "soft grow" }, "when each memory held; the line is the moment you look at"), tool("◀", "Earlier", () => shift(-0.4)), tool("+", "Zoom in", () => zoom(0.5)), tool("−", "Zoom out", () => zoom(2)), tool("▶", "Later", () => shift(0.4)), tool("All", "Show all", () => { state.window = null; render(); }));
  return h("div", { className: "card lines", id: "timeline" }, tools, h("div", { className: "tl-row tl-axis" }, h("span", { className: "soft" }, `${day(iso(from)).slice(0, 10)} – ${day(iso(to)).slice(0, 10)}`), h("div", { className: "tl-track" }, marks)), ...lines);
}
/** Round moments of a stretch of time: years, months, days or hours, about six of them. */
function ticks(from, to) {
  const wide = to - from, DAY = 864e5, found = [];
  const steps = [[3600e3 * 6, "h"], [DAY, "d"], [7 * DAY, "d"], [30 * DAY, "m"], [91 * DAY, "q"], [365 * DAY, "y"], [5 * 365 * DAY, "5"]];
  const unit = (steps.find(([step]) => wide / step <= 8) || steps.at(-1))[1], date = new Date(from);
  date.setUTCHours(unit === "h" ? Math.floor(date.getUTCHours() / 6) * 6 : 0, 0, 0, 0);
  if ("mqy5".includes(unit)) date.setUTCDate(1);
  if ("y5".includes(unit)) date.setUTCMonth(0);
  if (unit === "q") date.setUTCMonth(Math.floor(date.getUTCMonth() / 3) * 3);
  const days = wide / DAY > 8 ? 7 : 1;
  while (date <= to && found.length < 40) {
    const text = date.toISOString();
    if (date >= from) found.push({ at: +date, name: unit === "h" ? text.slice(5, 16).replace("T", " ") : unit === "d" ? text.slice(5, 10) : "y5".includes(unit) ? text.slice(0, 4) : text.slice(0, 7) });
    if (unit === "h") date.setUTCHours(date.getUTCHours() + 6);
    else if (unit === "d") date.setUTCDate(date.getUTCDate() + days);
    else if (unit === "m") date.setUTCMonth(date.getUTCMonth() + 1);
    else if (unit === "q") date.setUTCMonth(date.getUTCMonth() + 3);
    else date.setUTCFullYear(date.getUTCFullYear() + (unit === "5" ? 5 : 1));
  }
  return found;
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
      h("div", { className: "row" }, h("span", { className: "soft grow" }, likeness(proposal)), ...actions));
  });
}

const TIERS = { exact: "the same name", fuzzy: "spelt alike", phonetic: "sound alike", embedding: "near in meaning", stated: "somebody said that they are one" };
const likeness = ({ tier, score, reason }) => [TIERS[tier] || tier, tier === "stated" ? "" : `${Math.round(100 * score)} % alike`, reason === "stated by a same_as edge" ? "" : reason].filter(Boolean).join(" · ");

async function worlds() {
  const found = await api("worlds");
  const whole = h("article", { className: "card" }, h("div", { className: "head" }, h("b", {}, "Everything")), h("div", { className: "mono hash" }, found.hash), h("p", { className: "soft" }, "A hash covers all that was ever put inside, so two memories with the same hash hold the same."));
  if (!found.worlds.length) return [whole, empty("No worlds yet", ["A memory that contains others is a world: ", code("worldline note learning NAME --world ID")])];
  return [whole, ...found.worlds.map(({ hash, node }) => h("article", { className: "card world" }, h("div", { className: "head" }, h("span", { className: "badge" }, kind(node)), h("button", { type: "button", className: "name", onclick: () => choose(node.lineage) }, titled(node) || node.type)), h("div", { className: "mono hash" }, hash)))];
}

// The chosen memory and its graph -------------------------------------------------------------------

// A memory is chosen by its lineage: that leads to whatever version holds at the moment looked at.
const graph = new Graph($("graph"), (node) => { if (node.cluster) { state.wide.add(node.cluster); focus(); } else choose(node.lineage); });

function choose(ref, { back = false, quiet = false } = {}) {
  if (!back && state.ref && state.ref !== ref) state.trail.push(state.ref);
  const shown = state.ref === ref && $("detail").childElementCount > 0; // drawing it anew would wipe a form that is open
  if (state.ref !== ref) state.wide = new Set();
  state.ref = ref; state.quiet = quiet;
  document.body.classList.toggle("chosen", !quiet);
  if (!back) remembered();
  $("back").disabled = !state.trail.length;
  for (const item of document.querySelectorAll("#panel .card[data-id]")) item.classList.toggle("chosen", item.dataset.id === ref);
  if (!quiet && matchMedia("(max-width: 900px)").matches) scrollTo({ top: $("focus").offsetTop - 8, behavior: "smooth" });
  return shown ? undefined : focus();
}

async function focus() {
  document.body.classList.toggle("chosen", Boolean(state.ref) && !state.quiet);
  if (!state.ref) { graph.clear(); $("detail").replaceChildren(); $("graph-empty").textContent = "Choose a memory to see what lies around it"; return; }
  await showing($("detail"), async () => {
    try {
      const [node, history, why, around] = await Promise.all([api(at(state.ref)).catch((p) => gone(p)), api(at(state.ref, "history")), api(at(state.ref, "why")), api("query", { body: { seeds: [state.ref], steps: [{ follow: { way: "both", depth: state.depth } }], include_superseded: true, limit: 400 } })]);
      const person = node?.type === "Entity" ? await api(`people/${encodeURIComponent(node.name)}`).catch(() => null) : null;
      draw(node, history, around, person);
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
  const spoken = node.type === "Turn", when = spoken ? ["Said", day(node.valid.from)] : ["Held", held(node.valid, node.precision)];
  const rows = [...(spoken && node.name ? [["By", node.name]] : []), ...(node.type === "Entity" ? [] : [when]), ["Known", held(node.known)], ["Id", node.id.slice(0, 16)]];
  if (node.confidence !== null) rows.push(["Confidence", `${Math.round(100 * node.confidence)} %`]);
  if (node.reason) rows.push(["Because", node.reason]);
  if (node.world) rows.push(["In world", node.world.slice(0, 16)]);
  if (Object.keys(node.metadata).length) rows.push(["Metadata", JSON.stringify(node.metadata)]);
  const words = why.reasons.filter((reason) => reason.node.content).slice(0, 8).map((reason) => h("div", {}, h("div", { className: "soft" }, `${reason.node.type === "Turn" ? reason.node.name || "somebody" : titled(reason.node)}, ${held(reason.node.valid, reason.node.precision).replace("since ", "")}`), quoted(reason)));
  return [h("div", { className: "card" }, h("div", { className: "head" }, h("span", { className: "badge" }, kind(node)), h("b", {}, titled(node))), node.content && node.content !== titled(node) ? h("blockquote", {}, node.content) : null, node.notes.map((note) => h("div", { className: "note" }, `⚠ ${note}`)), h("dl", { className: "facts" }, rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])), words.length ? [h("h3", {}, "The words that it rests on"), ...words] : null, state.valid === null && state.known === null ? actions(node) : null), historyCard(history)];
}

/** What a person may do about a memory: it changed, it was wrong, it is over, keep it. */
function actions(node) {
  const box = h("div", { className: "stack" }), fixed = ["Turn", "Entity", "Scope", "Session"].includes(node.type), path = (verb) => at(node.lineage, verb);
  const form = (verb, name, told) => {
    const input = h("textarea", { rows: 2, required: true, "aria-label": told }), start = node.type === "Fact" ? "" : node.content;
    input.value = start; input.placeholder = told;
    return h("button", { type: "button", "data-verb": verb, onclick: () => { box.replaceChildren(h("form", { className: "stack", onsubmit: async (e) => { e.preventDefault(); await written(path(verb), { content: input.value }, name); } }, h("label", { className: "soft" }, told), input, h("div", { className: "row" }, h("button", { className: "strong" }, name), h("button", { type: "button", onclick: () => box.replaceChildren() }, "Cancel")))); input.focus(); } }, name);
  };
  const value = node.type === "Fact" ? "the new value" : "the new words";
  const plain = (verb, name, body, done) => h("button", { type: "button", "data-verb": verb, onclick: () => written(path(verb), body, done) }, name);
  return h("div", { className: "actions stack" }, h("div", { className: "row" },
    !fixed && form("amend", "It changed", `It changed: ${value}`), !fixed && form("correct", "It was wrong", `It was wrong: ${value} that should have stood there`),
    plain("retire", "It is over", {}, "Ended"), plain("pin", "Pin", {}, "Pinned; it will not fade"),
    h("button", { type: "button", "data-verb": "forget", onclick: () => forgetting(node, box) }, "Forget…")), box);
}

/** Erasing cannot be undone: it is counted first, and asked for twice. */
async function forgetting(node, box) {
  const erase = (more) => api("forget", { body: { ids: [node.lineage], ...more }, past: false });
  try {
    const would = await erase({ dry_run: true });
    const really = async () => {
      try {
        const done = await erase({ confirm: true });
        state.ref = null; state.trail = []; remembered(true);
        $("receipt").replaceChildren(`Erased for good: ${number(done.memories, "memory", "memories")}, ${number(done.facts, "fact", "facts")}.`);
        await again();
      } catch (problem) { tell(problem); }
    };
    box.replaceChildren(h("div", { className: "stack forget" }, h("p", { className: "note" }, `This erases ${number(would.memories, "memory", "memories")} and ${number(would.facts, "fact", "facts")} for good, with what was derived from them alone. Nothing brings them back; for what is over or wrong, use the other buttons.`), h("div", { className: "row" }, h("button", { type: "button", "data-verb": "erase", onclick: really }, "Erase for good"), h("button", { type: "button", onclick: () => box.replaceChildren() }, "Cancel"))));
  } catch (problem) { tell(problem); }
}
function quoted(reason) {
  const text = reason.node.content;
  if (!reason.span) return h("blockquote", {}, text);
  const letters = [...text], [from, to] = reason.span;  // the server counts characters, not UTF-16 units
  return h("blockquote", {}, letters.slice(0, from).join(""), h("mark", {}, letters.slice(from, to).join("")), letters.slice(to).join(""));
}
const CHANGES = { put: "learned", amended: "it changed", superseded: "held until then", corrected: "it was wrong", retired: "it ended", quarantined: "doubted", confirmed: "confirmed", restored: "put back" };
function historyCard(history) {
  return h("div", { className: "card" }, h("h3", {}, "Every belief held in it"), h("ol", { className: "history" }, history.map(({ node, change }) => h("li", { className: node.known.to ? "" : "held" }, h("b", {}, CHANGES[change] || change), ` · ${node.type === "Turn" || node.type === "Fact" ? node.content : node.content || node.name}`, h("div", { className: "soft" }, `${node.type === "Turn" ? `said ${day(node.valid.from)} · ` : node.valid.from ? `held ${held(node.valid, node.precision)} · ` : ""}believed ${held(node.known)}`)))));
}

const NAMED = { refers_to: "mentions", derived_from: "drawn from", contains: "holds", same_as: "same as", relates_to: "relates to", instance_of: "is a", causes: "led to", supersedes: "replaces", belongs_to: "belongs to" };
const labelOf = (edge) => edge.metadata.predicate || NAMED[edge.type] || edge.type.replaceAll("_", " ");
const MANY = 8;
/** Neighbours that hang on the centre by the same relation, as one, where there are many of them. */
function clustered(kept, edges, centre) {
  const groups = new Map();
  for (const edge of edges) {
    const far = edge.src === centre ? edge.dst : edge.dst === centre ? edge.src : null;
    if (far) { const key = `${edge.src === centre ? "→" : "←"} ${edge.label || edge.type}`; groups.set(key, (groups.get(key) || new Set()).add(far)); }
  }
  const hidden = new Set(), more = [], lines = [];
  for (const [key, members] of groups) {
    if (members.size <= MANY || state.wide.has(key)) continue;
    const rest = [...members].slice(MANY - 2), id = `more ${key}`, out = key.startsWith("→");
    for (const one of rest) hidden.add(one);
    more.push({ id, cluster: key, type: "more", title: `+ ${rest.length} more`, ghost: false });
    lines.push({ src: out ? centre : id, dst: out ? id : centre, type: "cluster", label: key.slice(2) });
  }
  const left = edges.filter((edge) => !hidden.has(edge.src) && !hidden.has(edge.dst)), still = new Set([centre, ...left.flatMap((edge) => [edge.src, edge.dst])]);
  return { nodes: [...kept.filter((item) => !hidden.has(item.id) && still.has(item.id)), ...more], edges: [...left, ...lines] };
}

function draw(node, history, around, person = null) {
  const moment = state.valid ?? Date.now(), nodes = new Map(), edges = [];
  const add = (item, ghost) => { if (!nodes.has(item.id)) nodes.set(item.id, { id: item.id, lineage: item.lineage, type: item.type, kind: kind(item), title: titled(item) || item.type, ghost }); };
  const centre = node || history.at(-1)?.node;
  if (!centre) { graph.clear(); return; }
  add(centre, !node);
  const older = [...new Map(history.map((v) => [v.node.id, v])).values()].filter((v) => v.node.id !== centre.id && Date.parse(v.node.valid.from || 0) <= moment);
  let newer = centre.id;
  for (const version of older.reverse()) { add(version.node, true); edges.push({ src: newer, dst: version.node.id, type: "supersedes", label: "replaces" }); newer = version.node.id; }
  const facts = new Set(around.edges.filter((edge) => edge.type === "fact").map((edge) => edge.id)), told = ["Turn", "Fact"].includes(centre.type);
  for (const item of around.nodes) if (!facts.has(item.id) || told) if (Date.parse(item.valid.from || 0) <= moment || !item.valid.from) add(item, isOver(item, moment));
  const lines = new Map();
  for (const item of nodes.values()) if (!lines.has(item.lineage) || !item.ghost) lines.set(item.lineage, lines.get(item.lineage) && item.ghost ? lines.get(item.lineage) : item.id);
  const end = (ref) => nodes.has(ref) && !lines.has(ref) ? ref : lines.get(ref) ?? (nodes.has(ref) ? ref : null);
  const drawn = new Set(edges.map((edge) => `${edge.src} ${edge.type} ${edge.dst}`));
  const drawing = [...around.edges].sort((a, b) => (a.type === "refers_to") - (b.type === "refers_to"));
  for (const edge of drawing) {
    if (edge.type === "derived_from" && !told) continue;  // around people and things, facts are the edges themselves
    const version = edge.type === "supersedes", src = version && nodes.has(edge.src) ? edge.src : end(edge.src), dst = version && nodes.has(edge.dst) ? edge.dst : end(edge.dst);
    const ended = edge.type !== "supersedes" && ((edge.valid.to && Date.parse(edge.valid.to) <= moment) || (edge.valid.from && Date.parse(edge.valid.from) > moment));
    const label = labelOf(edge), key = `${src} ${label} ${dst}`;
    const aside = edge.type === "refers_to" && !told && ![src, dst].includes(centre.id) && edges.some((one) => one.type !== "refers_to" && [one.src, one.dst].includes(dst));
    if (src && dst && src !== dst && !ended && !aside && !drawn.has(key)) { drawn.add(key); edges.push({ src, dst, type: edge.type, label }); }
  }
  for (const one of person?.attributes || []) if (!facts.has(one.fact)) {
    if (!one.text.startsWith(person.name)) continue;
    const value = one.text.slice(person.name.length).replace(/^'s/, "").trim();
    nodes.set(one.fact, { id: one.fact, lineage: one.fact, type: "Fact", title: value, ghost: false });
    edges.push({ src: centre.id, dst: one.fact, type: "fact", label: "" });
  }
  const joined = new Set(edges.flatMap((edge) => [edge.src, edge.dst]));
  const near = new Set([centre.id, ...edges.filter((edge) => edge.src === centre.id || edge.dst === centre.id).flatMap((edge) => [edge.src, edge.dst])]);
  const kept = [...nodes.values()].filter((item) => item.id === centre.id || (state.depth === 2 ? joined : near).has(item.id));
  const lasting = new Set(kept.map((item) => item.id));
  const shown = clustered(kept, edges.filter((edge) => lasting.has(edge.src) && lasting.has(edge.dst)), centre.id);
  for (const item of shown.nodes) item.far = !near.has(item.id) && item.type !== "more";
  graph.show({ ...shown, centre: centre.id });
  $("graph-empty").textContent = kept.length > 1 ? "" : "Nothing is linked to this memory (yet)";
  const far = shown.nodes.filter((item) => item.far).length;
  $("deeper").textContent = state.depth === 2 ? `2 steps${far ? ` (+${far})` : ""}` : "1 step";
  $("graph-told").textContent = around.nodes.length >= 400 ? "the first 400 neighbours" : `${kept.length - 1} around it`;
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
for (const axis of ["valid", "known"]) $(axis).addEventListener("input", () => { moved(axis); clearTimeout(waiting); waiting = setTimeout(() => { remembered(); render(); focus(); }, 120); });
$("now").addEventListener("click", () => { toNow(); remembered(); render(); focus(); });
/** The dates at the ends of the sliders. */
function ends() {
  for (const axis of ["valid", "known"]) {
    const both = range(axis);
    $(`${axis}-from`).textContent = both ? iso(both[0]).slice(0, 10) : ""; $(`${axis}-to`).textContent = both ? iso(both[1]).slice(0, 10) : "";
  }
}

// Links: question, view, chosen memory, whose, and both moments stand in the address -------------------

function address() {
  const query = new URLSearchParams();
  if (state.question) query.set("q", state.question);
  if (state.tab !== "search") query.set("tab", state.tab);
  if (state.ref) query.set("ref", state.ref.slice(0, 16));
  if ($("scope").value) query.set("whose", $("scope").value);
  for (const axis of ["valid", "known"]) if (state[axis] !== null) query.set(axis, iso(state[axis]));
  return `${location.pathname}${query.size ? `?${query}` : ""}`;
}
function remembered(replace = false) {
  const next = address();
  if (next !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", next);
}
/** The state that the address tells of. */
function recalled() {
  const query = new URLSearchParams(location.search);
  state.question = query.get("q") || ""; $("q").value = state.question;
  state.tab = query.get("tab") in PANELS ? query.get("tab") : "search";
  state.ref = query.get("ref"); state.trail = []; $("back").disabled = true;
  if (query.get("whose")) $("scope").value = query.get("whose");
  toNow();
  for (const axis of ["valid", "known"]) {
    const at = Date.parse(query.get(axis) || ""), both = range(axis);
    if (Number.isNaN(at) || !both) continue;
    state[axis] = at; $(axis).value = Math.round(STEPS * (at - both[0]) / (both[1] - both[0])); told(axis);
  }
}
addEventListener("popstate", () => { recalled(); render(); focus(); });

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
function open(tab) { if (state.tab !== tab) { $("receipt").replaceChildren(); state.window = null; } state.tab = tab; remembered(); return render(); }
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
  if (best) await (best.dataset.id === state.ref ? focus() : choose(best.dataset.id, { quiet: true }));
});
$("scope").addEventListener("change", async () => { state.ref = null; state.trail = []; await begin(false); remembered(); });
$("back").addEventListener("click", () => { if (state.trail.length) choose(state.trail.pop(), { back: true }); });
$("zoom-in").addEventListener("click", () => graph.zoom(1.25));
$("zoom-out").addEventListener("click", () => graph.zoom(1 / 1.25));
$("fit").addEventListener("click", () => graph.fit());
$("deeper").addEventListener("click", (e) => { state.depth = state.depth === 1 ? 2 : 1; e.target.setAttribute("aria-pressed", state.depth === 2); focus(); });
addEventListener("keydown", (e) => { if (e.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); $("q").focus(); } });
addEventListener("resize", () => graph.fit());

async function begin(linked = true) {
  state.span = await api("span", { past: false });
  for (const axis of ["valid", "known"]) $(axis).disabled = !range(axis);
  ends();
  if (linked) recalled(); else toNow();
  await Promise.all([render(), focus(), counted()]);
}
async function start() {
  try {
    const scopes = await api("scopes", { past: false }), chosen = $("scope").value;
    $("scope").replaceChildren(h("option", { value: "" }, "everybody"), ...Object.entries(scopes).flatMap(([kind, names]) => names.map((name) => h("option", { value: `${kind}:${name}`, selected: (chosen || new URLSearchParams(location.search).get("whose")) === `${kind}:${name}` }, `${kind} ${name}`))));
    await begin();
  } catch (problem) { if (!(problem instanceof Problem)) throw problem; tell(problem); $("panel").setAttribute("aria-busy", "false"); }
}
start();
