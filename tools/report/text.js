"use strict";
// Numbers as people read them, and elements made of text. Whatever a database says enters the page as text nodes and attributes, never as markup.

/** Three significant digits without an exponent: "0.0123", "1.23", "123", "12 346". */
function significant(number) {
    if (!Number.isFinite(number) || number === 0) return number === 0 ? "0" : "-";
    const size = Math.floor(Math.log10(Math.abs(number)));
    if (size < -4) return number.toExponential(2);
    const text = number.toFixed(Math.min(Math.max(2 - size, 0), 6));
    return size >= 4 ? grouped(Number(text)) : text;
}

/** A number beside an axis: no more digits than it has. */
function tickText(number) {
    return Math.abs(number) >= 1e4 ? grouped(number) : String(Number(number.toPrecision(6)));
}

/** "1 234 567", with spaces that do not break. */
function grouped(number) {
    return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** "564 us", "1.94 ms", "35.0 s", "4m 05s". */
function duration(seconds) {
    if (!(seconds > 0)) return "-";
    for (const [unit, size] of [["ns", 1e-9], ["us", 1e-6], ["ms", 1e-3]])
        if (seconds < size * 999.5) return `${significant(seconds / size)} ${unit}`;
    if (seconds < 100) return `${significant(seconds)} s`;
    const whole = Math.round(seconds);
    const two = (part) => String(part).padStart(2, "0");
    return whole < 3600 ? `${Math.floor(whole / 60)}m ${two(whole % 60)}s` : `${Math.floor(whole / 3600)}h ${two(Math.floor(whole / 60) % 60)}m`;
}

/** "1.50 GiB". */
function bytes(count) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = 0;
    let value = count;
    for (; value >= 1024 && unit + 1 < units.length; ++unit) value /= 1024;
    return `${unit === 0 ? Math.round(value) : significant(value)} ${units[unit]}`;
}

/** "3.0e-7", "0.012": of an error, whose size matters. */
function small(number) {
    return number > 0 && number < 1e-3 ? number.toExponential(1) : significant(number);
}

/** "83.4 %". */
function percent(part) {
    return Number.isFinite(part) ? `${(100 * part).toFixed(Math.abs(part) < 0.0995 ? 2 : 1)} %` : "-";
}

/** "+3.1 %" of a ratio. */
function change(ratio) {
    const text = (100 * (ratio - 1)).toFixed(1);
    return `${text.startsWith("-") ? "\u2212" + text.slice(1) : "+" + text} %`;
}

/** "3.24x". */
function times(ratio) {
    return ratio > 0 ? `${ratio < 100 ? ratio.toFixed(2) : significant(ratio)}x` : "-";
}

function plural(count, noun) {
    const many = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : noun.endsWith("h") ? `${noun}es` : `${noun}s`;
    return `${grouped(count)} ${count === 1 ? noun : many}`;
}

/** A word of a command line that a shell takes as it stands, whatever it holds. */
function shellWord(word) {
    return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The words of a problem, with one space between them. */
function shellWords(text) {
    return text.split(" ").map(shellWord).join(" ");
}

function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (typeof value === "function") node.addEventListener(name, value);
        else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(2))
        if (child !== undefined && child !== null && child !== false) node.append(child instanceof Node ? child : String(child));
    return node;
}

/** An element of HTML: h("a", {href: "#/", click: () => {}}, "text", other). A function is a listener of the event that its name says. */
function h(tag, attributes, ...children) {
    return filled(document.createElement(tag), attributes, children);
}

/** The same of SVG. */
function svg(tag, attributes, ...children) {
    return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Calls `act` when the element is in the page, and when its `size` has changed: in the next frame, because it may change sizes itself. */
function onResize(element, act, size = "clientWidth") {
    let last = -1;
    new ResizeObserver(() => requestAnimationFrame(() => {
        if (element[size] === last) return;
        last = element[size];
        act();
    })).observe(element);
}

/** Rows of a name and what it means; pairs without a meaning are left out. */
function facts(pairs) {
    return h("dl", {class: "facts"}, pairs.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
        .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** A bar as long as a part of 1, which is said in words beside it. */
function bar(part, kind = "") {
    const fill = h("span", {class: `fill ${kind}`});
    fill.style.width = `${Math.min(Math.max(part, 0), 1) * 100}%`;
    return h("span", {class: "bar", "aria-hidden": "true"}, fill);
}

/** How near to the ceiling, in a word: what colours and shapes say, too. */
function nearness(part) {
    return part >= 0.9 ? "good" : part >= 2 / 3 ? "fair" : "poor";
}

/** A line of a command with a button that copies it. */
function command(line) {
    const button = h("button", {type: "button", class: "copy", click: () => copyText(line, button)}, "Copy");
    return h("div", {class: "command"}, h("code", {}, line), button);
}

function copyText(text, button) {
    const say = (word) => {
        button.textContent = word;
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
    };
    if (!navigator.clipboard) return say("Not allowed here");
    navigator.clipboard.writeText(text).then(() => say("Copied"), () => say("Not allowed here"));
}
