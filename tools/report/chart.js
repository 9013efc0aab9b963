// Charts as SVG: points and lines on two axes, drawn anew when their width changes. A series is one path, so that 10^5 points are few elements.

const seriesColours = 8;
const paperWidth = 680;  // pixels of A4 and of letter paper within usual margins
const shapes = [
    (x, y, r) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`,
    (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    (x, y, r) => `M${x},${y - 1.3 * r}l${1.2 * r},${2.1 * r}h${-2.4 * r}z`,
    (x, y, r) => `M${x},${y - 1.4 * r}l${1.4 * r},${1.4 * r}l${-1.4 * r},${1.4 * r}l${-1.4 * r},${-1.4 * r}z`
];
const round1 = (value) => Math.round(value * 10) / 10;

function linearTicks(low, high, count) {
    const rough = (high - low) / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
}

function logTicks(low, high, count) {
    const decades = Math.log10(high / low);
    const factors = decades > count / 1.5 ? [1] : decades > count / 3 ? [1, 3] : decades > 0.7 ? [1, 2, 5] : undefined;
    if (!factors) return linearTicks(low, high, count).filter((tick) => tick > 0);
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power)
        for (const factor of factors) {
            const tick = factor * 10 ** power;
            if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick);
        }
    return ticks;
}

/** From values to places between `from` and `to`. */
function scaleOf(axis, values, from, to) {
    if (axis.names) {
        const step = (to - from) / axis.names.length;
        return {place: (value) => from + (value + 0.5) * step, ticks: axis.names.map((_, i) => i), text: (i) => axis.names[i]};
    }
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
        if (value < low) low = value;
        if (value > high) high = value;
    }
    if (!(low <= high)) [low, high] = [1, 2];
    const text = axis.text ?? tickText;
    const count = Math.max(2, Math.abs(to - from) / (axis.wide ?? 80));
    if (axis.log) {
        const margin = Math.max((high / low) ** 0.03, 1.02);
        low /= margin;
        high *= margin;
        return {place: (value) => from + (to - from) * Math.log(value / low) / Math.log(high / low), ticks: logTicks(low, high, count), text};
    }
    if (axis.zero) low = Math.min(low, 0);
    const margin = (high - low || Math.abs(high) || 1) * 0.04;
    high += margin;
    if (!axis.zero || low < 0) low -= margin;
    return {place: (value) => from + (to - from) * (value - low) / (high - low), ticks: linearTicks(low, high, count), text};
}

function isShown(axis, value) {
    return Number.isFinite(value) && (!axis.log || value > 0);
}

/**
 * A chart as a figure. `series`: {name, points: [{x, y, note, address}], line, through, marks, faint, step}; a note is a list of lines that a pointer on the
 * point is told, `address` where a click leads; a line goes through the points, or those of `through`; one that is `like` another has its colour. `x` and `y`: {label, log, zero, names, text}. Series can be hidden by the legend; `hidden` is a set of their
 * names, `hide` is called when it changes.
 */
function chart({label, series, x, y, height = 320, hidden = new Set(), hide = () => {}}) {
    const shown = series.map((one, i) => ({...one, number: i, points: one.points.filter((p) => isShown(x, p.x) && isShown(y, p.y))}))
        .filter((one) => one.points.length > 0);
    if (shown.length === 0) return h("p", {class: "none"}, "There is nothing to draw.");
    let number = 0;
    for (const one of shown) if (!one.like && !one.faint) one.colour = number++;
    for (const one of shown) if (one.like) one.colour = shown.find((other) => other.name === one.like)?.colour ?? number++;
    const figure = h("figure", {class: "chart"});
    const drawing = h("div", {class: "drawing"});
    const draw = (width = Math.max(drawing.clientWidth, 240)) => {
        drawing.replaceChildren(drawn({label, series: shown.filter((one) => !hidden.has(one.name)), x, y, width, height}));
    };
    figure.append(drawing);
    if (shown.length > 1 || shown[0].name) figure.append(legend(shown, hidden, () => { hide(hidden); draw(); }));
    onResize(drawing, () => draw());
    onPrint(drawing, () => draw(paperWidth), () => draw());
    return figure;
}

function legend(shown, hidden, changed) {
    const items = shown.filter((one) => one.name).map((one) => {
        const sample = svg("svg", {width: 22, height: 12, class: "sample", "aria-hidden": "true"});
        if (one.line) sample.append(svg("path", {d: "M1,6h20", class: lineClass(one)}));
        if (one.marks !== false) sample.append(svg("path", {d: shapeOf(one)(11, 6, 4), class: markClass(one)}));
        const button = h("button", {type: "button", "aria-pressed": String(!hidden.has(one.name)), click: () => {
            if (!hidden.delete(one.name)) hidden.add(one.name);
            button.setAttribute("aria-pressed", String(!hidden.has(one.name)));
            changed();
        }}, sample, one.name);
        return button;
    });
    return h("figcaption", {class: "legend"}, items);
}

function shapeOf(one) {
    return shapes[one.faint ? 0 : one.like ? 3 : Math.floor(one.colour / seriesColours) % shapes.length];
}
function lineClass(one) {
    return one.faint ? "line faint" : `line s${one.colour % seriesColours} dash${one.like ? 2 : Math.floor(one.colour / seriesColours) % 4}`;
}
function markClass(one) {
    return one.faint ? "mark faint" : `mark s${one.colour % seriesColours}`;
}

function drawn({label, series, x, y, width, height}) {
    const points = series.flatMap((one) => one.points);
    const left = Math.max(46, y.names ? Math.min(width * 0.4, 8 + 7 * Math.max(...y.names.map((name) => name.length))) : 0);
    const [right, top, bottom] = [12, 10, 44];
    const across = scaleOf(x, points.map((p) => p.x), left, width - right);
    const up = scaleOf({...y, wide: y.wide ?? 45}, points.map((p) => p.y), height - bottom, top);
    const picture = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0, "aria-label": label});
    const grid = svg("g", {class: "grid", "aria-hidden": "true"});
    for (const tick of across.ticks) {
        const place = round1(across.place(tick));
        grid.append(svg("path", {d: `M${place},${top}V${height - bottom}`}),
                    svg("text", {x: place, y: height - bottom + 16, "text-anchor": "middle"}, across.text(tick)));
    }
    for (const tick of up.ticks) {
        const place = round1(up.place(tick));
        grid.append(svg("path", {d: `M${left},${place}H${width - right}`}),
                    svg("text", {x: left - 6, y: place + 4, "text-anchor": "end"}, up.text(tick)));
    }
    picture.append(grid, svg("text", {class: "axis", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle"}, x.label));
    const targets = [];
    for (const one of series) picture.append(...drawnSeries(one, across, up, targets));
    const ring = svg("path", {class: "ring", d: ""});
    picture.append(ring);
    pointing(picture, targets, ring);
    return h("div", {}, y.label ? h("div", {class: "axis-title"}, y.label) : "", picture);
}

function drawnSeries(one, across, up, targets) {
    const places = one.points.map((p) => [round1(across.place(p.x)), round1(up.place(p.y))]);
    const elements = [];
    if (one.line) {
        const through = one.through ? one.through.map((p) => [round1(across.place(p.x)), round1(up.place(p.y))]) : places;
        const path = through.map(([px, py], i) => i === 0 ? `M${px},${py}` : one.step ? `H${px}V${py}` : `L${px},${py}`).join("");
        elements.push(svg("path", {d: path, class: lineClass(one)}));
    }
    if (one.marks !== false) {
        const radius = places.length > 1500 ? 2 : places.length > 200 ? 2.6 : 3.6;
        const shape = shapeOf(one);
        elements.push(svg("path", {d: places.map(([px, py]) => shape(px, py, radius)).join(""), class: markClass(one)}));
    }
    one.points.forEach((point, i) => { if (point.note) targets.push({x: places[i][0], y: places[i][1], point}); });
    return elements;
}

// Tells which point the pointer, or the arrow keys, are at.
function pointing(picture, targets, ring) {
    let current = -1;
    targets.sort((a, b) => a.x - b.x || b.y - a.y);
    const leave = () => { current = -1; ring.setAttribute("d", ""); hideTip(); };
    const mark = (i) => {
        current = i;
        const {x, y, point} = targets[i];
        ring.setAttribute("d", shapes[0](x, y, 6));
        const box = picture.getBoundingClientRect();
        showTip(point.note, box.left + x, box.top + y);
        picture.classList.toggle("leads", Boolean(point.address));
    };
    picture.addEventListener("pointermove", (event) => {
        const box = picture.getBoundingClientRect();
        const [px, py] = [event.clientX - box.left, event.clientY - box.top];
        let nearest = -1;
        let least = 26 * 26;
        for (let i = 0; i < targets.length; ++i) {
            const distance = (targets[i].x - px) ** 2 + (targets[i].y - py) ** 2;
            if (distance < least) [nearest, least] = [i, distance];
        }
        if (nearest < 0) leave();
        else if (nearest !== current) mark(nearest);
    });
    picture.addEventListener("pointerleave", leave);
    picture.addEventListener("blur", leave);
    const follow = () => { if (current >= 0 && targets[current].point.address) location.hash = targets[current].point.address; };
    picture.addEventListener("click", follow);
    picture.addEventListener("keydown", (event) => {
        const step = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1}[event.key];
        if (step && targets.length > 0) {
            mark(current < 0 ? (step > 0 ? 0 : targets.length - 1) : (current + step + targets.length) % targets.length);
            event.preventDefault();
        } else if (event.key === "Enter") {
            follow();
        }
    });
}

function showTip(lines, x, y) {
    const tip = document.getElementById("tip");
    tip.replaceChildren(...lines.map((line) => h("div", {}, line)));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - box.width - 8))}px`;
    tip.style.top = `${y + 16 + box.height < innerHeight ? y + 16 : Math.max(4, y - box.height - 12)}px`;
}

function hideTip() {
    document.getElementById("tip").hidden = true;
}

/** Horizontal bars with their numbers: {name, value, text, note, address}; one of `most` is as wide as there is room, else the longest. */
function bars(rows, most = Math.max(...rows.map((row) => row.value), 1e-300)) {
    return h("table", {class: "bars"}, h("tbody", {}, rows.map((row) =>
        h("tr", {}, h("th", {scope: "row"}, row.address ? h("a", {href: row.address}, row.name) : row.name),
          h("td", {class: "number"}, row.text ?? grouped(row.value)),
          h("td", {class: "wide"}, bar(row.value / most, row.kind), row.note ?? "")))));
}
