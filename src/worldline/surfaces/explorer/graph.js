// The graph: a small force layout, and an SVG that can be dragged, zoomed and walked.

const SVG = "http://www.w3.org/2000/svg";
const KINDS = ["supersedes", "contradicts"];

/** Positions that depend on the input only: the same graph looks the same each time. */
export function layout(nodes, edges, centre) {
  const at = new Map(nodes.map((node, i) => {
    const turn = i * 2.399963, far = node.id === centre ? 0 : (node.far ? 190 : 60) + 14 * Math.sqrt(i);
    return [node.id, { x: far * Math.cos(turn), y: far * Math.sin(turn), dx: 0, dy: 0 }];
  }));
  const all = [...at.values()], steps = all.length > 150 ? 90 : 260, outer = new Set(nodes.filter((node) => node.far).map((node) => node.id));
  for (let step = 0; step < steps; step++) {
    const heat = 14 * (1 - step / steps) + 0.2;
    for (const p of all) { p.dx = -p.x * 0.012; p.dy = -p.y * 0.014; }
    for (let i = 0; i < all.length; i++) for (let j = i + 1; j < all.length; j++) {
      const a = all[i], b = all[j], x = a.x - b.x || 0.01, y = a.y - b.y || 0.01;
      const push = 5200 / (x * x + y * y + 30), d = Math.hypot(x, y);
      a.dx += push * x / d; a.dy += push * y / d; b.dx -= push * x / d; b.dy -= push * y / d;
    }
    for (const edge of edges) {
      const a = at.get(edge.src), b = at.get(edge.dst);
      if (!a || !b || a === b) continue;
      const x = b.x - a.x, y = b.y - a.y, d = Math.hypot(x, y) || 0.01, pull = (d - (outer.has(edge.src) || outer.has(edge.dst) ? 95 : 145)) * 0.06;
      a.dx += pull * x / d; a.dy += pull * y / d; b.dx -= pull * x / d; b.dy -= pull * y / d;
    }
    for (const p of all) {
      const d = Math.hypot(p.dx, p.dy) || 0.01, go = Math.min(d, heat);
      p.x += go * p.dx / d; p.y += go * p.dy / d;
    }
    const middle = at.get(centre);
    if (middle) { middle.x *= 0.8; middle.y *= 0.8; }
  }
  return at;
}

function made(name, given = {}, ...inside) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
}

const short = (text, most = 22) => text.length > most ? text.slice(0, most - 1) + "…" : text;

/** Draws into `svg` and calls `walk(node)` when somebody chooses a node. */
export class Graph {
  constructor(svg, walk) {
    this.svg = svg; this.walk = walk; this.view = { x: 0, y: 0, scale: 1 }; this.points = new Map();
    this.stage = made("g"); svg.append(this.stage);
    svg.addEventListener("wheel", (e) => { e.preventDefault(); this.zoom(e.deltaY < 0 ? 1.15 : 1 / 1.15, e); }, { passive: false });
    svg.addEventListener("pointerdown", (e) => this.grab(e));
    svg.addEventListener("keydown", (e) => this.key(e));
  }

  clear() { this.stage.replaceChildren(); this.points = new Map(); }

  show({ nodes, edges, centre }) {
    this.clear();
    this.centre = centre;
    this.points = layout(nodes, edges, centre);
    this.svg.classList.toggle("dense", nodes.length > 40);
    const pairs = new Map();
    for (const edge of edges) if (this.points.has(edge.src) && this.points.has(edge.dst)) this.stage.append(...this.line(edge, pairs));
    for (const node of nodes) this.stage.append(this.dot(node, node.id === centre));
    this.stage.append(...this.stage.querySelectorAll(".node.centre"));
    this.fit();
  }

  line(edge, pairs) {
    const a = this.points.get(edge.src), b = this.points.get(edge.dst), kind = KINDS.includes(edge.type) ? edge.type : "plain";
    const pair = [edge.src, edge.dst].sort().join(), nth = pairs.get(pair) || 0; pairs.set(pair, nth + 1);
    const d = Math.hypot(b.x - a.x, b.y - a.y) || 1, ux = (b.x - a.x) / d, uy = (b.y - a.y) / d, bend = nth * 26;
    const mx = (a.x + b.x) / 2 - uy * bend, my = (a.y + b.y) / 2 + ux * bend, ex = b.x - ux * 15, ey = b.y - uy * 15;
    const off = edge.dst === this.centre ? -16 : 16;
    const tip = `M${ex} ${ey}l${-8 * ux + 4 * uy} ${-8 * uy - 4 * ux}l${-8 * uy} ${8 * ux}z`;
    const named = edge.label ?? edge.type, label = made("text", { class: `edge-name ${kind}`, x: (mx + (a.x + b.x) / 2) / 2 + ux * off, y: (my + (a.y + b.y) / 2) / 2 + uy * off + 3 });
    label.textContent = short(named, 26);
    return [
      made("path", { class: `edge ${kind}`, "data-type": edge.type, d: `M${a.x} ${a.y}Q${mx} ${my} ${ex} ${ey}` }),
      made("path", { class: `tip ${kind}`, d: tip }), label,
    ];
  }

  dot(node, centre) {
    const { x, y } = this.points.get(node.id), text = made("text", { y: centre ? -20 : node.far ? 19 : 26 }), title = made("title");
    text.textContent = short(node.title); title.textContent = `${node.type}: ${node.title}`;
    const type = ["Turn", "Fact", "Entity", "more"].includes(node.type) ? node.type : "";
    const group = made("g", {
      class: `node ${type} ${centre ? "centre" : ""} ${node.ghost ? "ghost" : ""} ${node.far ? "far" : ""}`, transform: `translate(${x} ${y})`,
      tabindex: "0", role: "button", "data-id": node.id, "aria-label": `${node.type} ${node.title}${node.ghost ? ", over" : ""}`,
    }, title, made("circle", { r: centre ? 14 : node.far ? 7 : 11 }), text);
    group.addEventListener("click", () => { if (!this.moved) this.walk(node); });
    group.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); this.walk(node); } });
    return group;
  }

  place() { const { x, y, scale } = this.view; this.stage.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`); }

  fit() {
    const box = this.svg.getBoundingClientRect(), all = [...this.points.values()];
    if (!all.length || !box.width) return;
    const xs = all.map((p) => p.x), ys = all.map((p) => p.y);
    const left = Math.min(...xs) - 70, right = Math.max(...xs) + 70, top = Math.min(...ys) - 40, bottom = Math.max(...ys) + 50;
    const scale = Math.min(1.5, box.width / (right - left), box.height / (bottom - top));
    this.view = { scale, x: box.width / 2 - scale * (left + right) / 2, y: box.height / 2 - scale * (top + bottom) / 2 };
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
