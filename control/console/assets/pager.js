// Long lists are shown by pages, so that no page is more than a browser draws at once.
import {html} from "./html.js";

// cut returns the page of a list: its items, its number from 1, and how many pages there are. asked is a number as text.
export function cut(list, asked, size) {
  const pages = Math.max(1, Math.ceil(list.length / size)), page = Math.min(pages, Math.max(1, Number(asked) || 1));
  return {items: list.slice((page - 1) * size, page * size), page, pages};
}

// pager is the line below a list with more than one page. field is the choice that has the number of the page.
export const pager = (name, {page, pages}, field = "page") => pages < 2 ? "" : html`<p class="buttons">${page > 1 ? html`<button id="${name}-before" data-page="${page - 1}" data-page-field="${field}">Previous</button>` : ""}<span class="soft">page ${page} of ${pages}</span>${page < pages ? html`<button id="${name}-after" data-page="${page + 1}" data-page-field="${field}">Next</button>` : ""}</p>`;
