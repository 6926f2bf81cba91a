// Draws the genes: one pixel for each, or for neighbours, 256 to a line.
import {heat, ramp, rgb, spread} from "./colours.js";
import {digits} from "./words.js";

export const chosen = {by: "shard", scale: "logarithmic"};

const still = matchMedia("(prefers-reduced-motion: reduce)");
let map = null, weights = null, beat = 0, at = -1;
let owner = new Uint8Array(0), move = new Int16Array(0), rate = new Float64Array(0);

const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const canvas = () => document.getElementById("picture");

// take draws an answer of /v1/genes.
export function take(answer) {
  map = answer.map;
  weights = answer.load.length || Object.keys(answer.rows).length ? answer : weights;
  owner = new Uint8Array(map.cells);
  move = new Int16Array(map.cells).fill(-1);
  let first = 0;
  for (const [last, shard] of map.owners) { owner.fill(shard, first, last + 1); first = last + 1; }
  map.moving.forEach(([from, to], i) => move.fill(i, from, to + 1));
  draw();
}

function weigh() {
  if (!weights) return new Float64Array(map.cells);
  if (chosen.by === "load") return spread(weights.load, map.cells);
  return Float64Array.from(owner, shard => weights.rows[map.shards[shard]] || 0);
}

export function draw() {
  const there = canvas();
  if (!map || !there) return;
  const side = Math.min(256, Math.ceil(Math.sqrt(map.cells)));
  if (there.width !== side) { there.width = side; there.height = Math.ceil(map.cells / side); }
  const pen = there.getContext("2d");
  const shards = map.shards.map((_, i) => rgb(style("--s" + i % 8)));
  const [low, middle, high] = ["--track", "--heat", "--hot"].map(name => rgb(style(name)));
  const image = pen.createImageData(there.width, there.height);
  const byShard = chosen.by === "shard";
  let most = 0, least = Infinity;
  if (!byShard) { rate = weigh(); for (const r of rate) { most = Math.max(most, r); if (r > 0) least = Math.min(least, r); } }
  for (let i = 0; i < map.cells; i++) {
    let colour = byShard ? shards[owner[i]] : ramp(heat(rate[i], least, most, chosen.scale === "logarithmic"), low, middle, high);
    if (move[i] >= 0) {
      const [, , from, to] = map.moving[move[i]];
      const x = i % there.width, y = Math.floor(i / there.width);
      if ((x + y + beat) % 8 < 3) colour = byShard ? shards[owner[i] === from ? to : from] : shards[owner[i]];
    }
    image.data.set(colour, 4 * i);
    image.data[4 * i + 3] = 255;
  }
  pen.putImageData(image, 0, 0);
  if (at >= 0) { // the cell that is told about
    pen.strokeStyle = style("--ink");
    pen.strokeRect(at % there.width - 1.5, Math.floor(at / there.width) - 1.5, 4, 4);
  }
  tell(there);
}

// highest is what the end of the ramp stands for.
export const highest = () => rate.reduce((most, r) => r > most ? r : most, 0);

// counts are how many genes each shard has.
export function counts() {
  const all = new Array(map ? map.shards.length : 0).fill(0);
  for (const s of owner) all[s]++;
  return all.map(n => n * size());
}

const size = () => Math.max(1, Math.pow(2, map.bits) / map.cells);

export function hex(cell, last) {
  const n = cell * size() + (last ? size() - 1 : 0);
  return "0x" + n.toString(16).padStart(Math.ceil(map.bits / 4), "0");
}

function tell(there) {
  const cell = document.getElementById("cell");
  if (at < 0 || !cell) return;
  let words = "gene " + hex(at) + (size() > 1 ? "–" + hex(at, true) : "") + " · " + map.shards[owner[at]];
  if (move[at] >= 0) { const [, , from, to, job] = map.moving[move[at]]; words += ` · ${map.jobs[job]}, ${map.shards[from]} → ${map.shards[to]}`; }
  if (chosen.by !== "shard" && weights) words += " · " + digits(rate[at]) + (chosen.by === "load" ? " statements/s" : " rows");
  if (cell.textContent !== words) cell.textContent = words;
  there.setAttribute("aria-label", "genes by " + chosen.by + "; " + words);
}

function point(i) { if (i !== at) { at = i; draw(); } }

document.addEventListener("pointermove", e => {
  const there = e.target.id === "picture" && e.target;
  if (!there) { if (at >= 0 && document.activeElement !== canvas()) point(-1); return; }
  const box = there.getBoundingClientRect();
  const x = Math.floor((e.clientX - box.left) / box.width * there.width), y = Math.floor((e.clientY - box.top) / box.height * there.height);
  const i = y * there.width + x;
  if (map && x >= 0 && x < there.width && i >= 0 && i < map.cells) point(i);
});
document.addEventListener("focusout", e => { if (e.target.id === "picture") point(-1); });
document.addEventListener("keydown", e => {
  if (!map || e.target.id !== "picture") return;
  const far = e.shiftKey ? 16 : 1;
  const by = {ArrowLeft: -far, ArrowRight: far, ArrowUp: -far * e.target.width, ArrowDown: far * e.target.width}[e.key];
  if (by === undefined) return;
  e.preventDefault();
  point(at < 0 ? 0 : Math.min(map.cells - 1, Math.max(0, at + by)));
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
setInterval(() => { if (map && map.moving.length && canvas() && !still.matches && !document.hidden) { beat = (beat + 1) % 8; draw(); } }, 250);
