// A chart: a title, what each line is now, and the lines.
import {html} from "./html.js";
import {clock} from "./words.js";
import {axis, nice, highest, path, newest} from "./curves.js";

const width = 600, height = 120;

// chart draws lines {name, look, values} over the times of a history. write says a value.
export function chart(id, title, history, lines, write, {marks = [], since = 0, empty = "Nothing is known yet: figures come each few seconds."} = {}) {
  const {from, to} = axis(history, since);
  const known = lines.filter(l => newest(l.values) !== null);
  const top = nice(highest(known));
  const box = {from, to, top, step: 1000 * history.step_seconds, width, height};
  const said = known.map(l => `${l.name} ${write(newest(l.values))}`).join(", ");
  return html`<figure class="chart" id="chart-${id}">
<figcaption><b>${title}</b> <span class="keys" id="keys-${id}">${known.map(l => html`<span class="key"><svg class="swatch" viewBox="0 0 8 8" aria-hidden="true"><rect class="${l.look}" width="8" height="8"/></svg>${l.name} <b>${write(newest(l.values))}</b></span> `)}</span></figcaption>
${known.length === 0 ? html`<p class="soft none">${empty}</p>` : html`
<div class="plot"><span class="top">${write(top)}</span>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${title}: ${said}" data-chart="${id}">
<path class="grid" d="M0 ${height / 2}H${width}M0 0.5H${width}M0 ${height - 0.5}H${width}"/>
${marks.filter(m => m.at >= from).map(m => html`<path class="mark" d="M${((m.at - from) / (to - from) * width).toFixed(1)} 0V${height}"><title>${clock(m.at)} ${m.move}: ${m.what}</title></path>`)}
${known.map(l => html`<path class="line ${l.look}" d="${path(history.at, l.values, box)}"/>`)}</svg>
<span class="from">${clock(from)}</span><span class="to">${clock(to)}</span></div>`}</figure>`;
}
