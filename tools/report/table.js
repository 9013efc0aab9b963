// Tables of any length: only the lines in view are in the page, all of them when it is printed.

// As in report.css, where the first column of a narrow window has three lines.
const narrowWindow = matchMedia("(max-width: 40rem)");
const heightOfLine = () => narrowWindow.matches ? 60 : 30;

/**
 * A table of rows. `columns`: {name, title, help, text(row), value(row), number, style(row), cell(row), most, rank, full(row)}; without `value` it is
 * sorted by its text; `most`: characters; what has a `rank` stands only where there is room, the lowest first; `full`: what a pointer on it is told.
 * `address(row)` is where a line leads, whose first column is the link. The page's query may name the order (`sort`: a column, with "-" before it from
 * the highest) and ask for all columns (`columns=all`); without it the order is `sort`. `rows` are all that there may be: the widths follow from them.
 */
function table({label, columns: all, rows, address: addressOf, query, sort = ""}) {
    const state = {order: rows, sort: query.get("sort") ?? sort, active: -1, whole: query.get("columns") === "all"};
    let columns = all;
    const headings = new Map(all.map((column) => [column, h("th", {scope: "col", class: column.number ? "number" : "", title: column.help},
        h("button", {type: "button", click: () => sortBy(column)}, column.title))]));
    const group = h("colgroup");
    const head = h("tr");
    const above = h("tr", {class: "space", "aria-hidden": "true"}, h("td", {colspan: all.length}));
    const below = h("tr", {class: "space", "aria-hidden": "true"}, h("td", {colspan: all.length}));
    const body = h("tbody", {}, above, below);
    const grid = h("table", {class: "records", "aria-label": label, "aria-rowcount": rows.length + 1}, group, h("thead", {}, head), body);
    const ruler = h("div", {class: "ruler", "aria-hidden": "true"});  // as wide as 100 digits
    const box = h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label, scroll: () => show(), keydown: (event) => onKey(event)},
                  ruler, grid);
    const hidden = h("p", {class: "hint"});
    const place = h("div", {}, box, hidden);
    let lineHeight = 0;
    let widths = new Map();
    const lines = new Map();  // by position, of those in the page
    let first = -1;
    let last = -1;

    // As many columns as there is room for beside the first, which takes what the others leave.
    function fit() {
        lineHeight = heightOfLine();
        widths = new Map(all.map((column) => [column, widthOf(column, rows)]));
        const room = (place.clientWidth - 2) / (ruler.offsetWidth / 100 || 8);
        const needs = widths.get(all[0]);
        const others = () => columns.slice(1).reduce((sum, column) => sum + widths.get(column), 0);
        const fits = (column) => others() + widths.get(column) + Math.min(needs, column.rank >= 4 ? comfortable : narrowest) <= room;
        columns = state.whole || room <= 0 ? all : all.filter((column) => !column.rank);
        for (const column of all.filter((one) => !columns.includes(one)).sort((a, b) => a.rank - b.rank))
            if (fits(column)) columns = all.filter((one) => columns.includes(one) || one === column);
        const own = state.whole ? needs : Math.max(Math.min(needs, room - others()), Math.min(needs, cutShort));
        group.replaceChildren(...columns.map((column) => {
            const element = h("col");
            element.style.width = `${column === all[0] ? own : widths.get(column)}ch`;
            return element;
        }));
        grid.style.width = `${own + others()}ch`;
        head.replaceChildren(...columns.map((column) => headings.get(column)));
        const absent = all.filter((column) => !columns.includes(column)).map((column) => column.title);
        const button = (text, whole) => h("button", {type: "button", class: "small", click: () => {
            state.whole = whole;
            setQuery({columns: whole ? "all" : ""});
            fit();
            refresh();
        }}, text);
        hidden.replaceChildren(...absent.length > 0 ? [`There is no room for ${absent.join(", ")}. `, button("Show all columns", true)]
            : state.whole ? [button("Show the columns that fit", false)] : []);
    }
    function line(row, i) {
        const cells = columns.map((column, c) => {
            const text = column.text(row);
            const content = column.cell && !narrowWindow.matches ? column.cell(row) : text;
            const inner = c === 0 && addressOf ? h("a", {href: addressOf(row), tabindex: -1}, content) : content;
            return h(c === 0 ? "th" : "td", {scope: c === 0 ? "row" : null, class: `${column.number ? "number" : ""} ${column.style?.(row) ?? ""}`,
                                             title: column.full?.(row) ?? (text.length > 12 ? text : null)}, inner);
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
        // As high as with the lines, so that the box is, too.
        below.firstChild.style.height = `${state.order.length * lineHeight}px`;
        below.hidden = false;
        above.hidden = true;
        show();
    }
    function arrange() {
        const descending = state.sort.startsWith("-");
        const column = all.find((one) => one.name === state.sort.slice(descending ? 1 : 0));
        for (const [one, heading] of headings) heading.setAttribute("aria-sort", one === column ? (descending ? "descending" : "ascending") : "none");
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
        setQuery({sort: state.sort});
        arrange();
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
    fit();
    arrange();
    onResize(box, () => show(), "clientHeight");
    onResize(place, () => { fit(); refresh(); });
    onPrint(box, () => show(true), refresh);
    return {element: place, setRows: (list) => { rows = list; arrange(); }};
}

// Characters of the first column: of most problems, before columns of rank 4 and more stand beside it; of a name and a value, before the others do.
const comfortable = 64;
const narrowest = 26;
const cutShort = 14;  // where there is no room even so

function widthOf(column, rows) {
    const stride = Math.max(1, Math.floor(rows.length / 300));
    let longest = column.title.length + 2;
    for (let i = 0; i < rows.length; i += stride) longest = Math.max(longest, column.text(rows[i]).length);
    return Math.min(longest, column.most ?? 40) + (column.cell && !narrowWindow.matches ? 9 : 2);
}

// What was not measured (0, "-") comes last, whichever way round.
function ordered(rows, column, descending) {
    const keyed = rows.map((row) => [column.value ? column.value(row) : column.text(row), row]);
    const absent = (key) => key === undefined || key === 0 || key === "" || Number.isNaN(key);
    const sign = descending ? -1 : 1;
    keyed.sort(([a], [b]) => {
        if (absent(a) || absent(b)) return Number(absent(a)) - Number(absent(b));
        return sign * (typeof a === "number" ? a - b : inOrder(a, b));
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
