// The list of expectations that were not correct: one page of rows is drawn at a time. Whatever stands in the data came
// from outside, so it is set as text and never as markup.
"use strict";
(() => {
  const PAGE = 100;
  const [ITEM, EXPECTATION, QUERY, GOLD, RETURNED, CHECKS, OUTCOME, SHAPES, STANDARD, KIND, RANK, LATENCY, ATTEMPTS,
    SEGMENT, PLACE, LEDGER] = Array(16).keys();
  const ROLES = ["", "bracket", "identifier", "section"];

  const taken = (id) => {
    const block = document.getElementById(id);
    const value = JSON.parse(block.textContent);
    block.remove();
    return value;
  };
  const rows = taken("data-rows");
  const tables = taken("data-tables");
  if (rows.length === 0) return;

  const made = (tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  };

  // Alternating texts: the second, fourth and so on are marked.
  const marked = (into, texts) => {
    texts.forEach((text, place) => { if (text) into.append(place % 2 ? made("mark", text) : text); });
    return into;
  };
  const joined = (texts) => texts.join("");
  const quotedText = (parts) => (parts === null ? "" : parts.map((part) => joined(part.slice(1))).join(""));
  const quoted = (parts) => {
    if (parts.length === 1) return marked(made("span", "", "quoted"), parts[0].slice(1));
    const chip = made("span", "", "chip");
    for (const [role, ...texts] of parts) {
      const part = marked(made("span", "", ROLES[role]), texts);
      if (ROLES[role] === "bracket") part.setAttribute("aria-hidden", "true");
      chip.append(part);
    }
    return chip;
  };

  const shapesText = (row) => row[SHAPES].map((shape) => tables.shapes[shape]).join(", ");
  const COLUMNS = [
    { name: "Item", style: "item", key: (row) => row[ITEM] },
    { name: "Gold", style: "gold", key: (row) => quotedText(row[GOLD][0]) },
    { name: "Returned", style: "returned", key: (row) => quotedText(row[RETURNED]) },
    { name: "Outcome", style: "outcome", key: (row) => tables.outcomes[row[OUTCOME]] },
    { name: "Diagnosis", style: "shapes", key: shapesText },
    { name: "Standard", key: (row) => tables.standards[row[STANDARD]] },
    { name: "Kind", key: (row) => tables.kinds[row[KIND]] },
    { name: "Rank", style: "narrow number", key: (row) => row[RANK] },
    { name: "ms", style: "narrow number", key: (row) => row[LATENCY] },
    { name: "Attempts", style: "tries number", key: (row) => row[ATTEMPTS] },
  ];
  const KEYS = [
    ...COLUMNS,
    { name: "Query", key: (row) => row[QUERY] },
    { name: "Failed checks", key: (row) => row[CHECKS].length },
    { name: "Transcript", key: (row) => (row[SEGMENT] === null ? null : `${tables.segments[row[SEGMENT]]} ${String(row[PLACE]).padStart(6, "0")}`) },
    { name: "Ledger entry", key: (row) => row[LEDGER] || null },
  ];

  const at = (id) => document.getElementById(id);
  const state = { found: [], page: 0, sort: 0, direction: 1 };

  // Sorting and finding. A row without a value comes last in either direction; equal ones stay in the order of items.
  const compared = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
  const byItem = Array.from(rows.keys());
  byItem.sort((a, b) => compared(rows[a][ITEM], rows[b][ITEM]) || rows[a][EXPECTATION] - rows[b][EXPECTATION]);
  let order = byItem;
  const sorted = () => {
    const keys = rows.map(KEYS[state.sort].key);
    order = byItem.slice();
    order.sort((a, b) => {
      const one = keys[a], other = keys[b];
      if (one === null || other === null) return (one === null) - (other === null);
      return state.direction * compared(one, other);
    });
  };

  const lowered = new Array(rows.length);
  const textOf = (place) => {
    if (lowered[place] === undefined) {
      const row = rows[place];
      lowered[place] = [
        row[ITEM], row[QUERY], ...row[GOLD].map(quotedText), quotedText(row[RETURNED]), row[LEDGER],
        ...row[CHECKS].flatMap(([name, expected, found]) => [name, joined(expected || []), joined(found || [])]),
      ].join("\n").toLowerCase();
    }
    return lowered[place];
  };
  const FILTERS = [["outcomes", OUTCOME], ["shapes", SHAPES], ["standards", STANDARD], ["kinds", KIND]];
  const has = (value, chosen) => (Array.isArray(value) ? value.includes(chosen) : value === chosen);
  const find = () => {
    const words = at("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = FILTERS.filter(([id]) => at(id).value !== "").map(([id, column]) => [column, Number(at(id).value)]);
    state.found = order.filter((place) =>
      chosen.every(([column, value]) => has(rows[place][column], value)) &&
      words.every((word) => textOf(place).includes(word)));
    state.page = 0;
    draw();
  };

  // Drawing.
  const listed = (into, label, ...content) => {
    const entry = made("li", `${label} `);
    entry.append(...content);
    into.append(entry);
  };
  const linked = (text, href) => {
    const link = made("a", text);
    link.href = href;
    link.rel = "noreferrer";
    return link;
  };
  const check = ([name, expected, found]) => {
    if (expected === undefined) return ["the string differs"];
    const value = (texts) => (texts === null ? made("span", "absent", "none") : marked(made("span", "", "quoted"), texts));
    return ["expected ", value(expected), ", found ", value(found)];
  };
  const details = (row) => {
    const cell = made("td");
    cell.colSpan = COLUMNS.length;
    const more = made("ul", undefined, "more");
    for (const each of row[CHECKS]) listed(more, `${each[0]}:`, ...check(each));
    if (row[SEGMENT] !== null) {
      listed(more, "Transcript:", linked("segment", tables.segments[row[SEGMENT]]), `, place ${row[PLACE]}`);
      const entry = row[LEDGER];
      listed(more, "Ledger entry:", tables.gateway && entry && !entry.includes("<U+")
        ? linked(entry, `${tables.gateway}/api/v1/calls/${encodeURIComponent(entry)}`) : entry || "none");
    }
    listed(more, "", made("code", `harness show ${tables.run} ${row[ITEM]} --society ${tables.society}`, "command"));
    cell.append(made("p", row[QUERY], "query"), more);
    return cell;
  };
  const content = (row, column) => {
    if (column === 1) return row[GOLD].map((parts) => { const each = made("div"); each.append(quoted(parts)); return each; });
    if (column === 2) {
      if (row[RETURNED] !== null) return [quoted(row[RETURNED])];
      return [made("span", row[RANK] === null ? "nothing returned" : "no citation", "none")];
    }
    if (column === 4) return row[SHAPES].map((shape) => made("div", tables.shapes[shape]));
    const value = COLUMNS[column].key(row);
    return [made("span", value === null ? "–" : column === 0 ? `${value} / ${row[EXPECTATION]}` : String(value))];
  };
  const drawn = (row) => {
    const body = made("tbody");
    const first = made("tr", undefined, "has-below");
    COLUMNS.forEach(({ name, style }, column) => {
      const cell = made(column === 0 ? "th" : "td", undefined, style);
      if (column === 0) cell.scope = "row";
      else cell.dataset.label = name;
      const holder = made("div");
      holder.append(...content(row, column));
      cell.append(holder);
      first.append(cell);
    });
    const second = made("tr", undefined, "below");
    second.append(details(row));
    body.append(first, second);
    return body;
  };
  const draw = () => {
    const total = state.found.length;
    const pages = Math.max(1, Math.ceil(total / PAGE));
    const start = state.page * PAGE;
    const shown = state.found.slice(start, start + PAGE);
    const table = at("table");
    for (const body of [...table.tBodies]) body.remove();
    table.append(...shown.map((place) => drawn(rows[place])));
    const count = total === 0 ? `No row of ${rows.length}`
      : `Rows ${start + 1} to ${start + shown.length} of ${total}${total < rows.length ? ` found in ${rows.length}` : ""}, page ${state.page + 1} of ${pages}`;
    for (const place of document.querySelectorAll(".pager p")) place.textContent = count;
    for (const button of document.querySelectorAll("[data-turn]")) {
      const page = state.page + Number(button.dataset.turn);
      button.setAttribute("aria-disabled", String(page < 0 || page >= pages));  // stays in the order of focus
    }
    [...at("heads").children].forEach((head, column) => {
      if (column === state.sort) head.setAttribute("aria-sort", state.direction === 1 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
      head.firstChild.lastChild.textContent = column !== state.sort ? "" : state.direction === 1 ? " ▲" : " ▼";
    });
    at("sort").value = String(state.sort);
    at("direction").value = String(state.direction);
  };

  // Controls.
  const sortBy = (column, direction) => {
    state.sort = column;
    state.direction = direction;
    sorted();
    find();
  };
  COLUMNS.forEach(({ name, style }, column) => {
    const head = made("th", undefined, style);
    head.scope = "col";
    const button = made("button", name);
    button.type = "button";
    const arrow = made("span");
    arrow.setAttribute("aria-hidden", "true");
    button.append(arrow);
    button.addEventListener("click", () => sortBy(column, column === state.sort ? -state.direction : 1));
    head.append(button);
    at("heads").append(head);
  });
  const option = (select, text, value) => {
    const each = made("option", text);
    each.value = value;
    select.append(each);
  };
  KEYS.forEach(({ name }, column) => option(at("sort"), name, String(column)));
  for (const [id, column] of FILTERS) {
    const counts = tables[id].map(() => 0);
    for (const row of rows) for (const value of [row[column]].flat()) counts[value] += 1;
    option(at(id), "all", "");
    const places = [...counts.keys()].sort((a, b) => compared(tables[id][a], tables[id][b]));
    for (const place of places) option(at(id), `${tables[id][place]} (${counts[place]})`, String(place));
    at(id).addEventListener("change", find);
  }
  let waiting = 0;
  at("text").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 150);
  });
  const sortChosen = () => sortBy(Number(at("sort").value), Number(at("direction").value));
  at("sort").addEventListener("change", sortChosen);
  at("direction").addEventListener("change", sortChosen);
  at("filters").addEventListener("submit", (event) => { event.preventDefault(); find(); });
  at("filters").addEventListener("reset", () => setTimeout(() => sortBy(0, 1)));
  for (const button of document.querySelectorAll("[data-turn]")) {
    button.addEventListener("click", () => {
      if (button.getAttribute("aria-disabled") === "true") return;
      state.page += Number(button.dataset.turn);
      draw();
      at("explorer").scrollIntoView();
    });
  }
  at("explorer").hidden = false;
  sortBy(0, 1);
})();
