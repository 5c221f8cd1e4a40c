// The graph: a small force layout, and an SVG that can be dragged, zoomed and walked.

const SVG = "http://www.w3.org/2000/svg";
const KINDS = ["supersedes", "contradicts"];
const DENSE = 40; // above so many memories, names show under the pointer
const SIZE = { centre: 11, near: 11, far: 9.5, edge: 9.5 };

const short = (text, most = 22) => [...text].length > most ? [...text].slice(0, most - 1).join("") + "…" : text;
/** About how wide a text is drawn: letters of other scripts are as wide as they are high. */
const wide = (text, size) => [...text].reduce((sum, c) => sum + (c > "\u2e7f" ? 1 : 0.56), 0) * size;
const kindOf = (node, centre) => node.id === centre ? "centre" : node.far ? "far" : "near";
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0;

/** The place that a memory takes with its name; the name stands on the side that looks away from the centre. */
function boxOf(node, p, centre) {
  const size = SIZE[kindOf(node, centre)], half = Math.max(15, wide(short(node.title), size) / 2 + 3), r = node.id === centre ? 17 : 13;
  return { left: p.x - half, right: p.x + half, top: p.y - (p.up ? r + size + 7 : r), bottom: p.y + (p.up ? r : r + size + 7) };
}

/** Positions that depend on the input only: the same graph looks the same each time. */
export function layout(nodes, edges, centre) {
  const turns = new Map(nodes.map((node, i) => [node.id, i * 2.399963]));
  for (const node of nodes) if (node.far) { // what lies two steps away begins behind what leads there
    const led = edges.find((edge) => edge.src === node.id || edge.dst === node.id), by = led && (led.src === node.id ? led.dst : led.src);
    if (by !== centre && turns.has(by)) turns.set(node.id, turns.get(by) + turns.get(node.id) % 0.5 - 0.25);
  }
  const at = new Map(nodes.map((node, i) => {
    const turn = turns.get(node.id), far = node.id === centre ? 0 : (node.far ? 190 : 60) + 14 * Math.sqrt(i);
    return [node.id, { x: far * Math.cos(turn), y: far * Math.sin(turn), dx: 0, dy: 0, up: false }];
  }));
  const all = [...at.values()], steps = all.length > 150 ? 90 : 260, outer = new Set(nodes.filter((node) => node.far).map((node) => node.id));
  const joined = edges.map((edge) => ({ edge, a: at.get(edge.src), b: at.get(edge.dst) })).filter(({ a, b }) => a && b && a !== b);
  for (let step = 0; step < steps; step++) {
    const heat = 14 * (1 - step / steps) + 0.2;
    for (const p of all) { p.dx = -p.x * 0.012; p.dy = -p.y * 0.014; }
    for (let i = 0; i < all.length; i++) for (let j = i + 1; j < all.length; j++) {
      const a = all[i], b = all[j], x = a.x - b.x || 0.01, y = a.y - b.y || 0.01;
      const push = 5200 / (x * x + y * y + 30), d = Math.hypot(x, y);
      a.dx += push * x / d; a.dy += push * y / d; b.dx -= push * x / d; b.dy -= push * y / d;
    }
    for (const { edge, a, b } of joined) {
      const x = b.x - a.x, y = b.y - a.y, d = Math.hypot(x, y) || 0.01, pull = (d - (outer.has(edge.src) || outer.has(edge.dst) ? 110 : 150)) * 0.06;
      a.dx += pull * x / d; a.dy += pull * y / d; b.dx -= pull * x / d; b.dy -= pull * y / d;
    }
    if (all.length <= DENSE) clear(all, joined);
    for (const p of all) {
      const d = Math.hypot(p.dx, p.dy) || 0.01, go = Math.min(d, heat);
      p.x += go * p.dx / d; p.y += go * p.dy / d;
    }
    const middle = at.get(centre);
    if (middle) { middle.x *= 0.8; middle.y *= 0.8; }
  }
  if (all.length <= DENSE) {
    turned(nodes, at, joined, centre);
    spread(nodes, at, centre);
  }
  return at;
}

/** Turns the whole until the fewest lines run through names, and it is rather wide than high. */
function turned(nodes, at, joined, centre) {
  const first = [...at.values()].map(({ x, y }) => ({ x, y }));
  const to = (angle) => {
    const cos = Math.cos(angle), sin = Math.sin(angle);
    [...at.values()].forEach((p, i) => { p.x = first[i].x * cos - first[i].y * sin; p.y = first[i].x * sin + first[i].y * cos; });
    let cost = 0;
    for (const node of nodes) {
      const p = at.get(node.id), [down, up] = [false, true].map((side) => { p.up = side; return crossed(boxOf(node, p, centre), p, joined); });
      p.up = up < down; cost += Math.min(up, down);
    }
    const boxes = nodes.map((node) => boxOf(node, at.get(node.id), centre));
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => { if (meet(a, b)) cost += 2; }));
    const high = Math.max(...boxes.map((b) => b.bottom)) - Math.min(...boxes.map((b) => b.top)), broad = Math.max(...boxes.map((b) => b.right)) - Math.min(...boxes.map((b) => b.left));
    return cost + high / broad;
  };
  const angles = Array.from({ length: 24 }, (_, i) => i * Math.PI / 12), costs = angles.map(to);
  to(angles[costs.indexOf(Math.min(...costs))]);
}

/** How much lines run through a name, the middle of it more than its ends; `p` is whose it is. */
function crossed(box, p, joined) {
  const name = p.up ? { ...box, bottom: p.y - 12 } : { ...box, top: p.y + 12 }, half = p.x - box.left;
  let cost = 0;
  for (const { a, b } of joined) {
    let worst = 0;
    for (let t = 0.04; t < 1; t += 0.04) {
      const x = a.x + t * (b.x - a.x), y = a.y + t * (b.y - a.y);
      if (x > name.left && x < name.right && y > name.top && y < name.bottom) worst = Math.max(worst, 1 - 0.8 * Math.abs(x - p.x) / half);
    }
    cost += worst;
  }
  return cost;
}

/** Memories give way to the lines that only pass by. */
function clear(all, joined) {
  for (const { a, b } of joined) for (const p of all) {
    if (p === a || p === b) continue;
    const x = b.x - a.x, y = b.y - a.y, along = ((p.x - a.x) * x + (p.y - a.y) * y) / (x * x + y * y || 1);
    if (along < 0.05 || along > 0.95) continue;
    const ox = p.x - a.x - along * x, oy = p.y - a.y - along * y, d = Math.hypot(ox, oy) || 0.01;
    if (d < 30) { p.dx += (30 - d) * 0.35 * ox / d; p.dy += (30 - d) * 0.35 * oy / d; }
  }
}

/** Pushes memories apart until no name lies on another. */
function spread(nodes, at, centre) {
  for (let round = 0; round < 120; round++) {
    let moved = false;
    for (let i = 0; i < nodes.length; i++) for (let j = i + 1; j < nodes.length; j++) {
      const p = at.get(nodes[i].id), q = at.get(nodes[j].id), a = boxOf(nodes[i], p, centre), b = boxOf(nodes[j], q, centre);
      if (!meet(a, b)) continue;
      const x = Math.min(a.right, b.right) - Math.max(a.left, b.left), y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      const [axis, by] = x < y ? ["x", x / 2 + 1] : ["y", y / 2 + 1], way = p[axis] <= q[axis] ? 1 : -1;
      p[axis] -= way * by; q[axis] += way * by; moved = true;
    }
    if (!moved) break;
  }
}

function made(name, given = {}, ...inside) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
}

/** Draws into `svg` and calls `walk(node)` when somebody chooses a node. */
export class Graph {
  constructor(svg, walk) {
    this.svg = svg; this.walk = walk; this.view = { x: 0, y: 0, scale: 1 }; this.points = new Map();
    this.stage = made("g"); svg.append(this.stage);
    svg.addEventListener("wheel", (e) => { e.preventDefault(); this.zoom(e.deltaY < 0 ? 1.15 : 1 / 1.15, e); }, { passive: false });
    svg.addEventListener("pointerdown", (e) => this.grab(e));
    svg.addEventListener("keydown", (e) => this.key(e));
  }

  clear() { this.stage.replaceChildren(); this.points = new Map(); this.boxes = []; }

  show({ nodes, edges, centre }) {
    this.clear();
    this.centre = centre;
    this.points = layout(nodes, edges, centre);
    this.boxes = nodes.map((node) => boxOf(node, this.points.get(node.id), centre));
    this.svg.classList.toggle("dense", nodes.length > DENSE);
    const pairs = new Map(), names = [], taken = [...this.boxes];
    for (const edge of edges) if (this.points.has(edge.src) && this.points.has(edge.dst)) {
      const [line, tip, name] = this.line(edge, pairs, taken);
      this.stage.append(line, tip); names.push(name);
    }
    this.stage.append(...names, ...nodes.map((node) => this.dot(node, node.id === centre)));
    this.stage.append(...this.stage.querySelectorAll(".node.centre"));
    this.fit();
  }

  line(edge, pairs, taken) {
    const a = this.points.get(edge.src), b = this.points.get(edge.dst), kind = KINDS.includes(edge.type) ? edge.type : "plain";
    const pair = [edge.src, edge.dst].sort().join(), nth = pairs.get(pair) || 0; pairs.set(pair, nth + 1);
    const d = Math.hypot(b.x - a.x, b.y - a.y) || 1, ux = (b.x - a.x) / d, uy = (b.y - a.y) / d, bend = nth * 26;
    const mx = (a.x + b.x) / 2 - uy * bend, my = (a.y + b.y) / 2 + ux * bend, ex = b.x - ux * 15, ey = b.y - uy * 15;
    taken.push({ left: ex - 6, right: ex + 6, top: ey - 6, bottom: ey + 6 });
    const said = made("title"); said.textContent = edge.label ?? edge.type;
    const tip = `M${ex} ${ey}l${-8 * ux + 4 * uy} ${-8 * uy - 4 * ux}l${-8 * uy} ${8 * ux}z`;
    return [
      made("path", { class: `edge ${kind}`, "data-type": edge.type, d: `M${a.x} ${a.y}Q${mx} ${my} ${ex} ${ey}` }, said),
      made("path", { class: `tip ${kind}`, d: tip }), this.named(edge, kind, { a, b, mx, my }, taken),
    ];
  }

  /** The name of a line at a free place along it, or beside it; where there is none, only the pointer tells it. */
  named(edge, kind, { a, b, mx, my }, taken) {
    const text = short(edge.label ?? edge.type, 26), half = wide(text, SIZE.edge) / 2 + 2, high = SIZE.edge / 2 + 2;
    const point = (t) => ({ x: (1 - t) ** 2 * a.x + 2 * t * (1 - t) * mx + t * t * b.x, y: (1 - t) ** 2 * a.y + 2 * t * (1 - t) * my + t * t * b.y });
    const box = ({ x, y }) => ({ left: x - half, right: x + half, top: y - high, bottom: y + high });
    const d = Math.hypot(b.x - a.x, b.y - a.y) || 1, ox = -(b.y - a.y) / d * 9, oy = (b.x - a.x) / d * 9;
    const places = [0, 1, -1].flatMap((side) => [0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.27, 0.73].map((t) => ({ x: point(t).x + side * ox, y: point(t).y + side * oy })));
    const free = places.find((p) => !taken.some((other) => meet(box(p), other)));
    const { x, y } = free || point(0.5);
    if (free) taken.push(box(free));
    const label = made("text", { class: `edge-name ${kind}${free ? "" : " crowded"}`, x, y: y + 3 });
    label.textContent = text;
    return label;
  }

  dot(node, centre) {
    const { x, y, up } = this.points.get(node.id), size = SIZE[kindOf(node, this.centre)], r = centre ? 14 : node.far ? 8 : 11;
    const text = made("text", { y: up ? -r - 6 : r + size + 3 }), title = made("title");
    text.textContent = short(node.title); title.textContent = `${node.kind || node.type}: ${node.title}`;
    const type = ["Turn", "Fact", "Entity", "more"].includes(node.type) ? node.type : "";
    const group = made("g", {
      class: `node ${type} ${centre ? "centre" : ""} ${node.ghost ? "ghost" : ""} ${node.far ? "far" : ""}`, transform: `translate(${x} ${y})`,
      tabindex: "0", role: "button", "data-id": node.id, "aria-label": `${node.type} ${node.title}${node.ghost ? ", over" : ""}`,
    }, title, made("circle", { r }), text);
    group.addEventListener("click", () => { if (!this.moved) this.walk(node); });
    group.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); this.walk(node); } });
    return group;
  }

  place() { const { x, y, scale } = this.view; this.stage.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`); }

  /** All of it, below the buttons. */
  fit() {
    const box = this.svg.getBoundingClientRect(), bar = 44;
    if (!this.boxes?.length || !box.width) return;
    const left = Math.min(...this.boxes.map((b) => b.left)) - 12, right = Math.max(...this.boxes.map((b) => b.right)) + 12;
    const top = Math.min(...this.boxes.map((b) => b.top)) - 6, bottom = Math.max(...this.boxes.map((b) => b.bottom)) + 10;
    const scale = Math.min(1.5, box.width / (right - left), (box.height - bar) / (bottom - top));
    this.view = { scale, x: box.width / 2 - scale * (left + right) / 2, y: bar + (box.height - bar) / 2 - scale * (top + bottom) / 2 };
    this.place();
  }

  zoom(by, event) {
    const box = this.svg.getBoundingClientRect(), v = this.view, scale = Math.min(5, Math.max(0.15, v.scale * by));
    const x = event ? event.clientX - box.left : box.width / 2, y = event ? event.clientY - box.top : box.height / 2;
    this.view = { scale, x: x - (x - v.x) * scale / v.scale, y: y - (y - v.y) * scale / v.scale };
    this.place();
  }

  grab(start) {
    const from = { ...this.view };
    this.moved = false;
    const move = (e) => {
      const x = e.clientX - start.clientX, y = e.clientY - start.clientY;
      if (Math.hypot(x, y) > 4) { this.moved = true; this.svg.classList.add("drag"); }
      if (this.moved) { this.view = { ...from, x: from.x + x, y: from.y + y }; this.place(); }
    };
    const drop = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", drop); removeEventListener("pointercancel", drop); this.svg.classList.remove("drag"); };
    addEventListener("pointermove", move); addEventListener("pointerup", drop); addEventListener("pointercancel", drop);
  }

  key(e) {
    const pan = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[e.key];
    if (pan) { this.view.x += pan[0]; this.view.y += pan[1]; this.place(); }
    else if (e.key === "+" || e.key === "=") this.zoom(1.2);
    else if (e.key === "-") this.zoom(1 / 1.2);
    else if (e.key === "0") this.fit();
    else return;
    e.preventDefault();
  }
}
