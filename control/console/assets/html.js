// Text that becomes HTML. Whatever is put into a template is escaped, unless a template made it.

class Safe {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
}

const entities = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"};

const escape = text => String(text).replace(/[&<>"']/g, c => entities[c]);

function show(value) {
  if (value instanceof Safe) return value.text;
  if (Array.isArray(value)) return value.map(show).join("");
  if (value === null || value === undefined || value === false || value === true) return "";
  return escape(value);
}

// html is a template's tag: html`<b>${name}</b>`.
export function html(strings, ...values) {
  return new Safe(strings.reduce((text, part, i) => text + show(values[i - 1]) + part));
}
