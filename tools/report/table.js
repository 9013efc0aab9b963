// Tables of any length: only the lines in view are in the page, all of them when it is printed.

const lineHeight = 30;  // as in report.css

/**
 * A table of rows. `columns`: {name, title, help, text(row), value(row), number, style(row), cell(row)}; without `value` it is sorted by its text.
 * `address(row)` is where a line leads, whose first column is the link. `sort`: name of a column, with "-" before it from the highest;
 * `sorted` is called with it when it changes.
 */
function table({label, columns, rows, address: addressOf, sort = "", sorted = () => {}}) {
    const state = {order: rows, sort, active: -1};
    const headings = columns.map((column) => h("th", {scope: "col", class: column.number ? "number" : "", title: column.help},
        h("button", {type: "button", click: () => sortBy(column)}, column.title)));
    const group = h("colgroup", {}, columns.map((column) => {
        const element = h("col");
        element.style.width = `${widthOf(column, rows)}ch`;
        return element;
    }));
    const above = h("tr", {class: "space", "aria-hidden": "true"}, h("td", {colspan: columns.length}));
    const below = h("tr", {class: "space", "aria-hidden": "true"}, h("td", {colspan: columns.length}));
    const body = h("tbody", {}, above, below);
    const grid = h("table", {class: "records", "aria-label": label, "aria-rowcount": rows.length + 1}, group, h("thead", {}, h("tr", {}, headings)), body);
    const box = h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label, scroll: () => show(), keydown: (event) => onKey(event)}, grid);
    const lines = new Map();  // by position, of those in the page
    let first = -1;
    let last = -1;

    function line(row, i) {
        const cells = columns.map((column, c) => {
            const text = column.text(row);
            const content = column.cell ? column.cell(row) : text;
            const inner = c === 0 && addressOf ? h("a", {href: addressOf(row), tabindex: -1}, content) : content;
            return h(c === 0 ? "th" : "td", {scope: c === 0 ? "row" : null, class: `${column.number ? "number" : ""} ${column.style?.(row) ?? ""}`,
                                             title: text.length > 12 ? text : null}, inner);
        });
        return h("tr", {"aria-rowindex": i + 2, class: i === state.active ? "active" : "", click: (event) => {
            if (addressOf && !(event.target instanceof HTMLAnchorElement) && getSelection().isCollapsed) location.hash = addressOf(row);
        }}, cells);
    }
    function show(everything = false) {
        const spare = 8;
        const begin = everything ? 0 : Math.max(0, Math.floor(box.scrollTop / lineHeight) - spare);
        const end = everything ? state.order.length : Math.min(state.order.length, Math.ceil((box.scrollTop + (box.clientHeight || 600)) / lineHeight) + spare);
        if (begin === first && end === last) return;
        [first, last] = [begin, end];
        above.firstChild.style.height = `${begin * lineHeight}px`;
        below.firstChild.style.height = `${(state.order.length - end) * lineHeight}px`;
        above.hidden = begin === 0;
        below.hidden = end === state.order.length;
        for (const [i, element] of lines) {
            if (i >= begin && i < end) continue;
            element.remove();
            lines.delete(i);
        }
        let next = below;
        for (let i = end - 1; i >= begin; --i) {
            if (!lines.has(i)) {
                lines.set(i, line(state.order[i], i));
                body.insertBefore(lines.get(i), next);
            }
            next = lines.get(i);
        }
    }
    function refresh() {
        first = -1;
        for (const element of lines.values()) element.remove();
        lines.clear();
        show();
    }
    function arrange() {
        const descending = state.sort.startsWith("-");
        const column = columns.find((one) => one.name === state.sort.slice(descending ? 1 : 0));
        columns.forEach((one, i) => headings[i].setAttribute("aria-sort", one === column ? (descending ? "descending" : "ascending") : "none"));
        state.order = column ? ordered(rows, column, descending) : rows;
        state.active = -1;
        grid.setAttribute("aria-rowcount", state.order.length + 1);
        box.scrollTop = 0;
        refresh();
    }
    function sortBy(column) {
        const up = column.name;
        const down = `-${column.name}`;
        const firstWay = column.number ? down : up;
        state.sort = state.sort === firstWay ? (firstWay === up ? down : up) : firstWay;
        arrange();
        sorted(state.sort);
    }
    function onKey(event) {
        const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity}[event.key];
        if (step !== undefined && event.target === box) {
            state.active = Math.min(Math.max(state.active + step, 0), state.order.length - 1);
            const top = state.active * lineHeight;
            if (top < box.scrollTop) box.scrollTop = top;
            if (top + 3 * lineHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + 3 * lineHeight - box.clientHeight;
            refresh();
            event.preventDefault();
        } else if (event.key === "Enter" && event.target === box && state.active >= 0 && addressOf) {
            location.hash = addressOf(state.order[state.active]);
        }
    }
    arrange();
    onResize(box, () => show(), "clientHeight");
    onPrint(box, () => show(true), refresh);
    return {element: box, setRows: (list) => { rows = list; arrange(); }};
}

function widthOf(column, rows) {
    const stride = Math.max(1, Math.floor(rows.length / 300));
    let longest = column.title.length + 2;
    for (let i = 0; i < rows.length; i += stride) longest = Math.max(longest, column.text(rows[i]).length);
    return Math.min(longest, column.most ?? 40) + (column.cell ? 9 : 2);
}

// What was not measured (0, "-") comes last, whichever way round.
function ordered(rows, column, descending) {
    const keyed = rows.map((row) => [column.value ? column.value(row) : column.text(row), row]);
    const absent = (key) => key === undefined || key === 0 || key === "" || Number.isNaN(key);
    const sign = descending ? -1 : 1;
    const compare = new Intl.Collator("en", {numeric: true}).compare;
    keyed.sort(([a], [b]) => {
        if (absent(a) || absent(b)) return Number(absent(a)) - Number(absent(b));
        return sign * (typeof a === "number" ? a - b : compare(a, b));
    });
    return keyed.map(([, row]) => row);
}

const printed = new Set();

/** Calls `before` and `after` around printing for as long as the element is in the page. */
function onPrint(element, before, after) {
    printed.add({element, before, after});
}
function aroundPrinting(name) {
    for (const one of printed) {
        if (one.element.isConnected) one[name]();
        else printed.delete(one);
    }
}
addEventListener("beforeprint", () => aroundPrinting("before"));
addEventListener("afterprint", () => aroundPrinting("after"));

/** A small table, as it stands. Cells are texts or elements; `numbers`: positions of columns of numbers. */
function plainTable(titles, rows, numbers = []) {
    const kind = (i) => numbers.includes(i) ? "number" : "";
    return h("div", {class: "plain"}, h("table", {}, h("thead", {}, h("tr", {}, titles.map((title, i) => h("th", {scope: "col", class: kind(i)}, title)))),
        h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) => i === 0 ? h("th", {scope: "row"}, cell) : h("td", {class: kind(i)}, cell)))))));
}
