// A chart: a title, what each line is now, the axis, and the lines.
import {html} from "./html.js";
import {clock} from "./words.js";
import {axis, scale, path, newest} from "./curves.js";
import {chosen} from "./span.js";

const width = 600, height = 120;

// tick writes a value of the axis, without zeros at its end. One that reads as the one above it is left out.
function tick(t, above, write) {
  const text = v => v ? write(v).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "") : "0";
  return above !== undefined && text(t) === text(above) ? "" : text(t);
}

// chart draws lines {name, look, values} over the times of a history. write says a value. All charts have the axis of time at the same place.
export function chart(id, title, history, lines, write, {marks = [], since = 0, part = chosen, empty = "Nothing is known yet: figures come each few seconds."} = {}) {
  const {from, to} = axis(history, since, part);
  const known = lines.filter(l => newest(l.values) !== null);
  const {ticks, peak, share} = scale(known, history.at, {from, to}, chosen.scale === "logarithmic");
  const box = {from, to, share, step: 1000 * history.step_seconds, width, height};
  const said = known.map(l => `${l.name} ${write(newest(l.values))}`).join(", ");
  const line = (y, look) => html`<path class="${look}" d="M0 ${y}H${width}"/>`;
  return html`<figure class="chart" id="chart-${id}">
<figcaption><b>${title}</b> <span class="keys" id="keys-${id}">${known.map(l => html`<span class="key"><svg class="swatch" viewBox="0 0 8 8" aria-hidden="true"><rect class="${l.look}" width="8" height="8"/></svg>${l.name} <b>${write(newest(l.values))}</b></span> `)}${peak ? html`<span class="warn">peak ${write(peak)}, cut off</span>` : ""}</span></figcaption>
${known.length === 0 ? html`<p class="soft none">${empty}</p>` : html`
<div class="plot"><div class="ticks" aria-hidden="true">${ticks.map((t, i) => html`<span>${tick(t, ticks[i - 1], write)}</span>`)}</div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${title}: ${said}" data-chart="${id}" data-from="${from}" data-to="${to}">
${ticks.map((t, i) => line((0.5 + i * (height - 1) / (ticks.length - 1)).toFixed(1), "grid"))}
${marks.filter(m => m.at >= from && m.at <= to).map(m => html`<path class="mark ${m.failed ? "failed" : ""}" d="M${((m.at - from) / (to - from) * width).toFixed(1)} 0V${height}"><title>${clock(m.at)} ${m.subject}: ${m.what}</title></path>`)}
${known.map(l => html`<path class="line ${l.look}" d="${path(history.at, l.values, box)}"/>`)}</svg>
<div class="times" aria-hidden="true"><span>${clock(from)}</span><span>${clock((from + to) / 2)}</span><span>${clock(to)}</span></div></div>`}</figure>`;
}

// marked lists the last events that the charts show.
export const marked = marks => marks.length === 0 ? "" : html`<details class="marks" id="marks"><summary>${marks.length === 1 ? "1 event" : marks.length + " events"} in this time, the last one at ${clock(marks[marks.length - 1].at)}: <b>${marks[marks.length - 1].subject}</b> ${marks[marks.length - 1].what}</summary><ul>${marks.slice(-20).reverse().map(m => html`<li class="${m.failed ? "bad" : ""}"><span class="soft">${clock(m.at)} ${m.kind}</span> <b>${m.subject}</b> ${m.what}</li>`)}</ul><p><a href="#timeline">The whole timeline</a></p></details>`;
