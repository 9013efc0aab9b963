// The page that the address asks for. What stands behind "#" is a page and its query: every view has an address, and is drawn from it alone.

const pages = {"": overviewPage, results: resultsPage, family: familyPage, compare: comparePage, searches: searchesPage, problem: problemPage};
const navigation = [["", "Overview"], ["results", "Results"], ["family", "Families"], ["compare", "Compare"], ["searches", "Searches"]];

function currentPage() {
    return /^#\/(\w*)/.exec(location.hash)?.[1] ?? "";
}
function currentQuery() {
    const at = location.hash.indexOf("?");
    return new URLSearchParams(at < 0 ? "" : location.hash.slice(at + 1));
}

/** Changes values of the address without a step in the browser's history, and without drawing anew. */
function setQuery(values) {
    const query = Object.fromEntries(currentQuery());
    history.replaceState(null, "", address(currentPage(), {...query, ...values}));
}

/** Draws the page. What has the focus keeps it, where it is still there. */
function render() {
    const page = currentPage();
    const place = document.getElementById("main");
    const focus = document.activeElement?.id;
    hideTip();
    const {title, elements} = (Object.hasOwn(pages, page) ? pages[page] : notFoundPage)(currentQuery());
    document.title = `${title} \u00b7 hone report`;
    place.replaceChildren(...elements.filter((one) => one));
    drawNavigation(page);
    if (focus) document.getElementById(focus)?.focus();
}

function notFoundPage() {
    return {title: "Not here", elements: [h("h1", {}, "There is no such page"), h("p", {}, h("a", {href: "#/"}, "Overview"))]};
}

function drawNavigation(page) {
    document.getElementById("nav").replaceChildren(...navigation.map(([name, title]) =>
        h("a", {href: address(name), "aria-current": name === page ? "page" : null}, title)));
}

const keys = [["/", "filter"], ["Esc", "leave the filter, close this"], ["o r f c s", "overview, results, families, compare, searches"],
              ["\u2191 \u2193 Enter", "in a list or chart: line or point by line or point, and open it"], ["[ ]", "back and forth"], ["?", "this"]];

function showKeys() {
    const dialog = document.getElementById("help");
    dialog.replaceChildren(h("h2", {}, "Keys"), facts(keys.map(([key, meaning]) => [h("kbd", {}, key), meaning])),
                           h("button", {type: "button", click: () => dialog.close()}, "Close"));
    dialog.showModal();
}

const shortcuts = {
    "?": showKeys, "/": () => document.getElementById("filter")?.select(), "[": () => history.back(), "]": () => history.forward(),
    o: () => { location.hash = "#/"; }, r: () => { location.hash = "#/results"; }, f: () => { location.hash = "#/family"; },
    c: () => { location.hash = "#/compare"; }, s: () => { location.hash = "#/searches"; }
};

document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === "Escape" && typing) event.target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(shortcuts, event.key)) return;
    shortcuts[event.key]();
    event.preventDefault();
});
document.getElementById("help-button").addEventListener("click", showKeys);
addEventListener("hashchange", () => {
    render();
    scrollTo(0, 0);
});

document.getElementById("footer").append(`Made by hone ${main.hone} from ${main.database}${main.against ? ` and ${main.against}` : ""}. ` +
    "Seconds, bytes and operations are the database's; rates follow from them.");
render();
