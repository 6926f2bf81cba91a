// Draws the virtual nodes: one pixel each, 256 to a line.
"use strict";
const picture = (() => {
  const canvas = document.getElementById("picture");
  const cell = document.getElementById("cell");
  const legend = document.getElementById("legend");
  const pen = canvas.getContext("2d");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let map = null, text = "", by = "shard", weights = null, beat = 0, at = -1;
  let owner = new Uint8Array(0), move = new Int16Array(0), rate = new Float64Array(0);

  const number = new Intl.NumberFormat("en", {maximumSignificantDigits: 3});
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function rgb(colour) {
    const n = parseInt(colour.slice(1), 16);
    return [n >> 16 & 255, n >> 8 & 255, n & 255];
  }

  function take(next) {
    const now = JSON.stringify(next);
    if (now === text) return;
    text = now;
    map = next;
    const side = Math.min(256, Math.ceil(Math.sqrt(map.cells)));
    if (canvas.width !== side) { canvas.width = side; canvas.height = Math.ceil(map.cells / side); }
    owner = new Uint8Array(map.cells);
    move = new Int16Array(map.cells).fill(-1);
    let first = 0;
    for (const [last, shard] of map.owners) { owner.fill(shard, first, last + 1); first = last + 1; }
    map.moving.forEach(([from, to], i) => move.fill(i, from, to + 1));
    draw();
  }

  function weigh() {
    if (!weights || !map) return;
    rate = new Float64Array(map.cells);
    if (by === "load") {
      let i = 0;
      for (let k = 0; k + 1 < weights.load.length; k += 2) { rate.fill(weights.load[k + 1], i, i + weights.load[k]); i += weights.load[k]; }
    } else {
      for (let i = 0; i < map.cells; i++) rate[i] = weights.rows[map.shards[owner[i]]] || 0;
    }
  }

  function draw() {
    if (!map) return;
    const shards = map.shards.map((_, i) => rgb(style("--s" + i % 8)));
    const low = rgb(style("--track")), middle = rgb(style("--heat")), high = rgb(style("--hot"));
    const image = pen.createImageData(canvas.width, canvas.height);
    if (by !== "shard") weigh();
    let most = 0, least = Infinity;
    if (by !== "shard") for (const r of rate) { most = Math.max(most, r); if (r > 0) least = Math.min(least, r); }
    const span = Math.log(most / least) || 1;
    for (let i = 0; i < map.cells; i++) {
      let colour = shards[owner[i]];
      if (by !== "shard") {
        const heat = rate[i] > 0 ? (most > least ? 0.08 + 0.92 * Math.log(rate[i] / least) / span : 0.5) : 0;
        colour = heat < 0.5 ? mix(low, middle, 2 * heat) : mix(middle, high, 2 * heat - 1);
      }
      if (move[i] >= 0) {
        const [, , from, to] = map.moving[move[i]];
        const x = i % canvas.width, y = Math.floor(i / canvas.width);
        if ((x + y + beat) % 8 < 3) colour = by === "shard" ? shards[owner[i] === from ? to : from] : shards[owner[i]];
      }
      image.data.set(colour, 4 * i);
      image.data[4 * i + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    if (at >= 0) { // the cell that is told about
      pen.strokeStyle = style("--ink");
      pen.strokeRect(at % canvas.width - 1.5, Math.floor(at / canvas.width) - 1.5, 4, 4);
    }
    explain(most);
    tell();
  }

  const mix = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));

  function explain(most) {
    const moving = map.moving.length > 0;
    let html = "";
    if (by === "shard") {
      const counts = new Array(map.shards.length).fill(0);
      for (const s of owner) counts[s]++;
      html = map.shards.map((name, i) => `<li><svg viewBox="0 0 8 8" aria-hidden="true"><rect class="s${i % 8}" width="8" height="8"/></svg>${escape(name)} <span class="soft">${counts[i].toLocaleString("en")}</span></li>`).join("");
    } else if (!weights) {
      html = "<li>asking the " + (by === "load" ? "proxies" : "shards") + " …</li>";
    } else {
      const trouble = weights.trouble.find(t => t.startsWith(by));
      const unit = by === "load" ? "statements/s" : "rows, as the servers estimate them for each shard";
      html = `<li><span class="ramp"></span>0 to ${number.format(most)} ${unit}, logarithmic</li>` + (trouble ? `<li class="bad">${escape(trouble)}</li>` : "");
    }
    if (moving) html += `<li class="soft">striped: on the move (${map.jobs.map(escape).join(", ")})</li>`;
    morph(legend, html);
    const label = "virtual nodes by " + by + ": " + legend.textContent.trim();
    if (canvas.getAttribute("aria-label") !== label) canvas.setAttribute("aria-label", label);
  }

  function escape(text) {
    const span = document.createElement("span");
    span.textContent = text;
    return span.innerHTML;
  }

  function tell() {
    if (at < 0 || !map) return;
    const size = Math.max(1, Math.pow(2, map.bits) / map.cells), digits = Math.ceil(map.bits / 4);
    const hex = n => "0x" + n.toString(16).padStart(digits, "0");
    let words = "gene " + hex(at * size) + (size > 1 ? "–" + hex(at * size + size - 1) : "") + " · " + map.shards[owner[at]];
    if (move[at] >= 0) { const [, , from, to, job] = map.moving[move[at]]; words += ` · ${map.jobs[job]}, ${map.shards[from]} → ${map.shards[to]}`; }
    if (by !== "shard" && weights) words += " · " + number.format(rate[at]) + (by === "load" ? " statements/s" : " rows");
    if (cell.textContent !== words) cell.textContent = words;
  }

  canvas.addEventListener("pointermove", e => {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor((e.clientX - box.left) / box.width * canvas.width), y = Math.floor((e.clientY - box.top) / box.height * canvas.height);
    const i = y * canvas.width + x;
    if (map && x >= 0 && x < canvas.width && i >= 0 && i < map.cells && i !== at) { at = i; draw(); }
  });
  canvas.addEventListener("pointerleave", () => { if (document.activeElement !== canvas) { at = -1; draw(); } });
  canvas.addEventListener("blur", () => { at = -1; draw(); });
  canvas.addEventListener("keydown", e => {
    const far = e.shiftKey ? 16 : 1;
    const by = {ArrowLeft: -far, ArrowRight: far, ArrowUp: -far * canvas.width, ArrowDown: far * canvas.width}[e.key];
    if (!map || by === undefined) return;
    e.preventDefault();
    at = at < 0 ? 0 : Math.min(map.cells - 1, Math.max(0, at + by));
    draw();
  });
  document.querySelectorAll("input[name=by]").forEach(i => i.addEventListener("change", () => { by = i.value; draw(); ask(); }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  // Weights are asked for while they are looked at.
  async function ask() {
    if (by === "shard" || document.hidden) return;
    try {
      const answer = await fetch("weights");
      if (answer.ok) { weights = await answer.json(); draw(); }
    } catch { /* the header says that the proxy is away */ }
  }
  setInterval(ask, 5000);
  setInterval(() => { if (map && map.moving.length && !still.matches && !document.hidden) { beat = (beat + 1) % 8; draw(); } }, 250);
  return {take};
})();
