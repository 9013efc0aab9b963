// Pages of many results: overview, list, family, comparison. A page is a function of its query that returns its title and its elements.

const columnsOfResults = {
    problem: {name: "problem", title: "problem", text: (r) => r.brief, full: (r) => r.problem, most: 96},
    device: {name: "device", title: "device", text: (r) => r.fingerprint.name, most: 38, rank: 1},
    step: {name: "step", title: "step", help: "median time of a time step", number: true, text: (r) => duration(r.median), value: (r) => r.median},
    unsure: {name: "unsure", title: "\u00b1", help: "half the 95 % confidence interval of the median", number: true, rank: 5,
             text: (r) => r.half > 0 ? percent(r.half) : "-", value: (r) => r.half, style: (r) => r.half > 0.02 ? "poor" : ""},
    ceiling: {name: "ceiling", title: "of ceiling", help: "part of the device's measured ceiling, and which one binds", number: true, rank: 2,
              text: (r) => r.ceiling_fraction > 0 ? `${percent(r.ceiling_fraction)} ${r.ceiling}` : "-", value: (r) => r.ceiling_fraction,
              cell: (r) => r.ceiling_fraction > 0
                  ? [`${percent(r.ceiling_fraction)} ${r.ceiling}`, bar(r.ceiling_fraction, nearness(r.ceiling_fraction))] : "-"},
    gain: {name: "gain", title: "gain", help: "times as fast as the untuned safe configuration", number: true, rank: 3, text: (r) => times(r.gain),
        value: (r) => r.gain},
    rate: {name: "rate", title: "rate, G/s", help: "1e9 updates, elements, ... per second", number: true, rank: 4,
           text: (r) => `${significant(r.rate)} ${r.unit}`, value: (r) => r.rate, most: 20},
    bandwidth: {name: "bandwidth", title: "GB/s", help: "compulsory bytes per second", number: true, rank: 6, text: (r) => significant(r.bandwidth),
        value: (r) => r.bandwidth},
    flops: {name: "flops", title: "GFLOP/s", help: "operations per second", number: true, rank: 7, text: (r) => significant(r.flops),
        value: (r) => r.flops},
    remark: {name: "remark", title: "remarks", help: "what to know before trusting it", text: (r) => r.remark, style: () => "poor", most: 16, rank: 3},
    date: {name: "date", title: "date", help: "day of the measurement, UTC", text: (r) => r.date.slice(0, 10), rank: 8}
};

const code = (text) => h("code", {}, text);

function resultColumns(rows, {problem = columnsOfResults.problem, several = true} = {}) {
    const columns = [problem];
    if (several) columns.push(columnsOfResults.device);
    for (const name of ["step", "unsure", "ceiling", "gain", "rate", "bandwidth", "flops"]) columns.push(columnsOfResults[name]);
    if (rows.some((r) => r.remark !== "")) columns.push(columnsOfResults.remark);
    columns.push(columnsOfResults.date);
    return columns;
}

/** A list of results with a line to filter it. `changed(rows)` is called with those that the filter leaves. */
function resultList({rows, query, columns, label, changed = () => {}}) {
    const count = h("output", {class: "count", id: "count", for: "filter"});
    const list = table({label, columns, rows, address: (r) => r.address, query});
    const apply = (text) => {
        const chosen = rows.filter(filterOf(text));
        count.textContent = (chosen.length < rows.length ? `${grouped(chosen.length)} of ` : "") + plural(rows.length, "result");
        list.setRows(chosen);
        changed(chosen);
    };
    const input = h("input", {type: "search", id: "filter", value: query.get("q") ?? "", spellcheck: "false", autocomplete: "off",
                              placeholder: "order=3,4 precision=f32 ceiling<80% gain>2 device=\u2026 -word",
                              "aria-describedby": "filter-help", input: () => { setQuery({q: input.value}); apply(input.value); }});
    apply(input.value);
    return h("section", {class: "list"},
        h("div", {class: "controls"}, h("label", {for: "filter"}, "Filter"), input, count),
        h("p", {class: "hint", id: "filter-help"}, "All words must hold. ", code("maxwell"), " is a part of the text, ", code("order=3,4"),
          " a value (also of family, device, remark, hone, driver, \u2026), ", code("ceiling<80%"),
          " a bound (also of gain, step, rate, unsure, evaluations, order, \u2026), ",
          code("-word"), " its contrary."),
        list.element);
}

/** Buttons of which one is pressed, each leading to the same page with another value. */
function choices(label, name, values, chosen, page, query) {
    if (values.length < 2) return null;
    return h("div", {class: "choices", role: "group", "aria-label": label}, h("span", {}, label), values.map(([value, title]) =>
        h("a", {href: address(page, {...Object.fromEntries(query), [name]: value}), "aria-current": value === chosen ? "true" : null}, title)));
}

function select(label, name, values, chosen) {
    const id = `choose-${name}`;
    const choose = (event) => {
        setQuery({[name]: event.target.value});
        render();
    };
    return h("span", {class: "select"}, h("label", {for: id}, label), h("select", {id, change: choose},
        values.map(([value, title]) => h("option", {value, selected: value === chosen}, title))));
}

function nearestTo(query, values, fallback) {
    return values.includes(query) ? query : fallback;
}

function medianCeiling(rows) {
    const measured = rows.filter((r) => r.ceiling_fraction > 0).map((r) => r.ceiling_fraction);
    return median(measured);
}

function noteOf(result) {
    const lines = [result.problem, `${duration(result.median)} a step, ${significant(result.rate)} G ${result.unit}/s`,
                   `${significant(result.bandwidth)} GB/s, ${significant(result.flops)} GFLOP/s`];
    if (result.ceiling_fraction > 0) lines.push(`${percent(result.ceiling_fraction)} of ${result.ceiling}`);
    if (models.size > 1) lines.push(result.fingerprint.name);
    return lines;
}

// Overview

function deviceCard(model, rows) {
    const device = rows[0].fingerprint;
    const near = rows.filter((r) => r.ceiling_fraction > 0).map((r) => r.ceiling_fraction);
    const gains = rows.filter((r) => r.gain > 0).map((r) => r.gain);
    const link = (words) => address("results", {q: models.size > 1 ? `device=${model} ${words}` : words});
    const doubtful = rows.filter((r) => r.remark.includes("disturbed")).length;
    const unsure = rows.filter((r) => r.half > 0.02).length;
    const dates = rows.map((r) => r.date).sort();
    return h("article", {class: "card"}, h("h2", {}, h("a", {href: link("")}, device.name)),
        h("p", {class: "muted"}, `${device.architecture}, ${device.units} ${device.target === "cpu" ? "threads" : "multiprocessors"}` +
          `${device.driver ? `, driver ${device.driver}` : ""}, ${device.compiler}`),
        h("div", {class: "figures"},
          h("div", {}, h("b", {}, grouped(rows.length)), "results"),
          h("div", {}, h("b", {}, percent(geometricMean(near))), "of the ceiling"),
          h("div", {}, h("b", {}, times(geometricMean(gains))), "over untuned"),
          h("div", {}, h("b", {}, h("a", {href: link("ceiling<66.7%")}, grouped(near.filter((part) => part < 2 / 3).length))), "below two thirds")),
        h("p", {}, h("a", {href: link("unsure>2")}, `${grouped(unsure)} unsure`), " (beyond \u00b12 %), ",
          h("a", {href: link("disturbed")}, `${grouped(doubtful)} disturbed`), `, ${grouped(rows.length - near.length)} without a measured ceiling; `,
          `from ${dates[0].slice(0, 10)} to ${dates.at(-1).slice(0, 10)}`));
}

function ceilingChart(rows) {
    const byFamily = [...groupBy(rows.filter((r) => r.ceiling_fraction > 0), (r) => r.family)].sort(([a], [b]) => a < b ? 1 : -1);
    if (byFamily.length === 0) return h("p", {class: "none"}, "No result has its part of the ceiling measured.");
    const kinds = ["memory", "arithmetic"];
    // Side by side within a family's lane, so that equal parts do not hide one another.
    const series = kinds.map((kind) => ({name: `${kind} ceiling`, points: byFamily.flatMap(([, list], lane) => list.filter((r) => r.ceiling === kind)
        .map((r, i) => ({x: r.ceiling_fraction, y: lane + ((i * 0.618034) % 1 - 0.5) * 0.6, note: noteOf(r), address: r.address})))}));
    const medians = byFamily.map(([, list], lane) => ({name: "", faint: true, line: true, marks: false,
        points: [-0.42, 0.42].map((side) => ({x: medianCeiling(list), y: lane + side}))}));
    const lanes = [-0.5, byFamily.length - 0.5].map((y) => ({x: 1, y}));
    const roof = {name: "the ceiling", faint: true, line: true, marks: false, points: lanes};
    return chart({label: "Part of the ceiling of every result, by family", series: [...series, roof, ...medians], height: 70 + 34 * byFamily.length,
                  x: {label: "part of the measured ceiling", zero: true, text: percentTick}, y: {label: "", names: byFamily.map(([name]) => name)}});
}

function percentTick(value) {
    return `${Math.round(100 * value)} %`;
}

/** Below its roofs: each the median of what the results' rates and parts imply. */
function roofline(rows, hidden) {
    const series = [...groupBy(rows.filter((r) => r.intensity > 0), (r) => r.family)]
        .map(([family, list]) => ({name: family, points: list.map((r) => ({x: r.intensity, y: r.flops, note: noteOf(r), address: r.address}))}));
    const all = rows.filter((r) => r.intensity > 0).map((r) => r.intensity);
    const low = Math.min(...all.slice(0, 1), all.reduce((a, b) => Math.min(a, b), Infinity));
    const high = all.reduce((a, b) => Math.max(a, b), 0);
    const bandwidth = median(rows.filter((r) => r.ceiling === "memory" && r.ceiling_fraction > 0).map((r) => r.bandwidth / r.ceiling_fraction));
    const roof = (name, points) => series.push({name, line: true, faint: true, marks: false, points});
    const peaks = [...groupBy(rows.filter((r) => r.ceiling === "arithmetic" && r.ceiling_fraction > 0), (r) => r.parameters.get("precision") ?? "")]
        .map(([precision, list]) => [precision, median(list.map((r) => r.flops / r.ceiling_fraction))]).sort((a, b) => b[1] - a[1]);
    if (bandwidth) {
        const end = peaks.length > 0 ? Math.max(low, peaks[0][1] / bandwidth) : high;
        roof(`memory, ${significant(bandwidth)} GB/s`, [{x: low, y: low * bandwidth}, {x: end, y: end * bandwidth}]);
    }
    for (const [precision, peak] of peaks)
        roof(`${precision} arithmetic, ${significant(peak)} GFLOP/s`,
            [{x: bandwidth ? Math.max(low, peak / bandwidth) : low, y: peak}, {x: high, y: peak}]);
    return chart({label: "Roofline: GFLOP/s over operations per byte", series, height: 400, hidden, hide: keepHidden,
                  x: {label: "operations per byte of compulsory traffic", log: true}, y: {label: "GFLOP/s", log: true}});
}

function keepHidden(hidden) {
    setQuery({hide: [...hidden].join("|")});
}
function hiddenIn(query) {
    return new Set((query.get("hide") ?? "").split("|").filter((name) => name !== ""));
}

function overviewPage(query) {
    const model = nearestTo(query.get("device"), [...models.keys()], models.keys().next().value);
    const rows = (models.get(model) ?? []).filter((r) => r.purpose === "");
    const elements = [h("h1", {}, "Tuned results"),
        h("p", {class: "muted"}, `${plural(results.length, "result")} of ${plural(families.size, "family")} on ` +
        `${plural(models.size, "device")}; database: ${main.database}`)];
    for (const note of main.notes) elements.push(h("p", {class: "warning"}, note));
    elements.push(h("div", {class: "cards"}, [...models].map(([key, list]) => deviceCard(key, list))));
    if (rows.length === 0) return {title: "Overview", elements};
    elements.push(choices("Device", "device", [...models.keys()].map((key) => [key, modelName(key)]), model, "", query),
        h("section", {}, h("h2", {}, "How near the ceilings"),
          h("p", {class: "hint"},
            "Every result, and of each family the median (the short lines). Beyond 100 % caches hold a part of the data, " +
            "or a kernel does less than is counted."),
          ceilingChart(rows)),
        h("section", {}, h("h2", {}, "Families"), familyTable(rows)),
        h("section", {}, h("h2", {}, "Roofline"), roofline(rows, hiddenIn(query))),
        h("section", {}, h("h2", {}, "What is left to do"), leftToDo(model, rows)));
    return {title: "Overview", elements};
}

function familyTable(rows) {
    const byFamily = groupBy(rows, (r) => r.family);
    return plainTable(["family", "results", "of ceiling", "", "lowest", "gain", "unsure"], [...byFamily].map(([family, list]) => {
        const near = list.filter((r) => r.ceiling_fraction > 0).sort((a, b) => a.ceiling_fraction - b.ceiling_fraction);
        const middle = medianCeiling(list);
        return [h("a", {href: address("family", {family, device: list[0].model})}, family), grouped(list.length), percent(middle),
                middle ? bar(middle, nearness(middle)) : "",
                near.length > 0 ? h("a", {href: near[0].address}, percent(near[0].ceiling_fraction)) : "-",
                times(geometricMean(list.filter((r) => r.gain > 0).map((r) => r.gain))), grouped(list.filter((r) => r.half > 0.02).length)];
    }), [1, 2, 4, 5, 6]);
}

function leftToDo(model, rows) {
    const there = new Set(rows.map((r) => r.family));
    const untuned = main.families.filter((family) => !there.has(family.name));
    const here = new Set(rows.map((r) => r.problem));
    const elsewhere = results.filter((r) => r.model !== model && r.purpose === "" && !here.has(r.problem));
    const far = rows.filter((r) => r.ceiling_fraction > 0).sort((a, b) => a.ceiling_fraction - b.ceiling_fraction).slice(0, 8);
    return [
        h("h3", {}, "Farthest from the ceiling"),
        far.length === 0 ? h("p", {class: "none"}, "No result has its part of the ceiling measured.")
            : bars(far.map((r) => ({name: r.brief, value: r.ceiling_fraction, text: percent(r.ceiling_fraction), kind: nearness(r.ceiling_fraction),
                                    address: r.address})), 1),
        h("p", {}, h("a", {href: address("results", {q: "ceiling<80%", sort: "ceiling"})}, "All below 80 %")),
        h("h3", {}, "Untuned"),
        untuned.length === 0 ? h("p", {}, `Every family of hone has results on ${modelName(model)}.`)
            : h("ul", {}, untuned.map((family) => h("li", {}, h("b", {}, family.name), ` has no result on ${modelName(model)}: ${family.summary}`))),
        elsewhere.length > 0 ? h("p", {},
            `${plural(elsewhere.length, "problem")} tuned on other devices ${elsewhere.length === 1 ? "is" : "are"} not tuned here.`) : ""
    ];
}

// All results

function resultsPage(query) {
    return {title: "Results", elements: [h("h1", {}, "Results"),
        resultList({rows: results, query, label: "Results", columns: resultColumns(results, {several: models.size > 1})})]};
}

// A family

const metrics = [
    ["rate", "rate", (r) => r.rate, (r) => `G ${r.unit}/s`],
    ["ceiling", "part of the ceiling", (r) => r.ceiling_fraction, () => "part of the ceiling"],
    ["gain", "gain over untuned", (r) => r.gain, () => "times the safe configuration"], ["bandwidth", "GB/s", (r) => r.bandwidth, () => "GB/s"],
    ["flops", "GFLOP/s", (r) => r.flops, () => "GFLOP/s"], ["step", "time of a step", (r) => r.median, () => "seconds a step"]
];

// What rivals reach of the same problems, where they were measured.
function rivalSeries(lines, xs) {
    const rivals = new Map(main.rivals.map((rival) => [`${rival.device}\n${rival.problem}`, rival]));
    return [...lines].map(([name, list]) => ({name: name ? `rival, ${name}` : "rival", like: name, line: true,
        points: list.filter((r) => r.purpose === "" && rivals.has(`${r.model}\n${r.problem}`)).map((r) => {
            const rival = rivals.get(`${r.model}\n${r.problem}`);
            const note = [`rival: ${r.problem}`, `${significant(1e-9 / rival.seconds)} G ${r.unit}/s`];
            return {x: xs(r), y: 1e-9 / rival.seconds, note, address: r.address};
        }).sort((a, b) => a.x - b.x)}));
}

// Of the points with equal x, as of other sizes, the best.
function bestOfEach(points, leastIsBest) {
    return [...groupBy(points, (p) => p.x).values()].map((list) => list.reduce((a, b) => (b.y < a.y) === leastIsBest ? b : a));
}

function familyChart(rows, over, metric, sizes, hidden) {
    const differ = varying(rows);
    const numeric = [...(differ.get(over) ?? [])].every((value) => value !== "" && Number.isFinite(Number(value)));
    const names = numeric ? undefined : [...(differ.get(over) ?? [])].sort();
    const others = [...differ.keys()].filter((name) => name !== over && !sizes.has(name));
    const lines = groupBy(rows.filter((r) => r.parameters.has(over)), (r) =>
        [...(models.size > 1 ? [r.fingerprint.name] : []), ...others.map((name) => r.parameters.has(name) ? toldBy(differ, name, r.parameters.get(name)) : ""),
            r.purpose].filter((word) => word !== "").join(" "));
    const [, , value, axis] = metric;
    const xs = (r) => names ? names.indexOf(r.parameters.get(over)) : Number(r.parameters.get(over));
    const series = [...lines].map(([name, list]) => {
        const points = list.map((r) => ({x: xs(r), y: value(r), note: noteOf(r), address: r.address})).sort((a, b) => a.x - b.x);
        return {name, line: true, points, through: bestOfEach(points.filter((p) => p.y > 0), metric[0] === "step")};
    });
    if (metric[0] === "rate") series.push(...rivalSeries(lines, xs));
    const ys = rows.map(value).filter((y) => y > 0);
    const wide = ys.reduce((a, b) => Math.max(a, b), 0) > 20 * ys.reduce((a, b) => Math.min(a, b), Infinity);
    const numbers = names ? [] : rows.map(xs).filter((x) => x > 0);
    const far = numbers.length > 0 && numbers.reduce((a, b) => Math.max(a, b), 0) > 30 * numbers.reduce((a, b) => Math.min(a, b), Infinity);
    return chart({label: `${metric[1]} over ${over}`, series, height: 380, hidden, hide: keepHidden, x: {label: over, names, log: far},
                  y: {label: axis(rows[0]), log: wide, zero: true,
                      text: metric[0] === "ceiling" ? percentTick : metric[0] === "step" ? duration : undefined}});
}

function familyPage(query) {
    const name = nearestTo(query.get("family"), [...families.keys()], families.keys().next().value);
    const rows = families.get(name) ?? [];
    const known = main.families.find((family) => family.name === name);
    const sizes = sizesOf(name);
    const differ = [...varying(rows).keys()];
    const shared = rows.length > 1 ? [...rows[0].parameters].filter(([parameter]) => !differ.includes(parameter)).map((pair) => pair.join("=")) : [];
    const fallback = differ.includes("order") ? "order" : differ.find((parameter) => /^\d+$/.test(rows[0].parameters.get(parameter) ?? "")) ?? differ[0];
    const over = nearestTo(query.get("over"), differ, fallback);
    const metric = metrics.find(([key]) => key === query.get("metric")) ?? metrics[0];
    const place = h("div");
    const list = resultList({rows, query, label: `Results of ${name}`,
        columns: resultColumns(rows, {several: models.size > 1, problem: {...columnsOfResults.problem, text: (r) => r.briefTitle || r.family}}),
        changed: (chosen) => place.replaceChildren(over && chosen.length > 0 ? familyChart(chosen, over, metric, sizes, hiddenIn(query)) : "")});
    return {title: name, elements: [
        h("h1", {}, name), h("p", {},
            known ? known.summary : "A family that this hone does not know: of an application's own, its results are shown as they stand."),
        known ? h("p", {class: "muted"}, known.source) : "",
        shared.length > 0 ? h("p", {}, "All results here: ", shared.map((word) => [h("code", {}, word), " "])) : "",
        choices("Family", "family", [...families.keys()].map((key) => [key, key]), name, "family", new URLSearchParams()),
        h("section", {}, h("div", {class: "controls"}, select("Show", "metric", metrics.map(([key, title]) => [key, title]), metric[0]),
            over ? select("over", "over", differ.map((key) => [key, key]), over) : ""), place),
        list,
        known ? h("details", {}, h("summary", {}, "Parameters"),
            plainTable(["parameter", "meaning"], known.parameters.map((p) => [p.name, p.help]))) : ""]};
}

// A comparison

const changeKinds = ["slower", "faster", "unsure", "new", "gone", "same"];

function comparePage(query) {
    if (main.comparisons.length === 0)
        return {title: "Compare", elements: [h("h1", {}, "Compare"), h("p", {}, "There is one device in this report, and no other database."),
                                             command("hone report --against DIR -o report.html")]};
    const number = Math.min(Math.max(Number(query.get("pair")) || 0, 0), main.comparisons.length - 1);
    const comparison = main.comparisons[number];
    const named = (side) => main.devices.some((device) => device.key === side) ? modelName(side) : side;
    const rows = comparison.rows.map(([before, after, kind, ratio, confidence, config, source]) =>
        ({before: allResults[before], after: allResults[after], kind, ratio, confidence,
            because: config ? "other configuration" : source ? "other kernel" : ""}));
    const kind = nearestTo(query.get("kind"), changeKinds, "");
    const test = filterOf(query.get("q") ?? "");
    const chosen = rows.filter((row) => (kind === "" || row.kind === kind) && test(row.after ?? row.before));
    const common = rows.filter((row) => row.ratio > 0).length;
    const counts = new Map(changeKinds.map((name) => [name, rows.filter((row) => row.kind === name).length]));
    const cost = (r) => r === undefined ? "-" : r.purpose === "energy" && r.joules > 0 ? `${significant(r.joules)} J` : duration(r.median);
    const columns = [
        {name: "problem", title: "problem", text: (row) => (row.after ?? row.before).brief, full: (row) => (row.after ?? row.before).problem, most: 96},
        {name: "change", title: "change", text: (row) => row.kind,
            style: (row) => row.kind === "slower" ? "poor" : row.kind === "faster" ? "good" : ""},
        {name: "before", title: "before", number: true, rank: 3, text: (row) => cost(row.before), value: (row) => row.before?.median ?? 0},
        {name: "after", title: "after", number: true, rank: 2, text: (row) => cost(row.after), value: (row) => row.after?.median ?? 0},
        {name: "ratio", title: "difference", number: true, text: (row) => row.ratio > 0 ? change(row.ratio) : "-", value: (row) => row.ratio},
        {name: "confidence", title: "sure", rank: 4, help: "that the order of the true times is that of the medians", number: true,
         text: (row) => row.confidence > 0 ? percent(Math.min(row.confidence, 0.999)) : "-", value: (row) => row.confidence},
        {name: "because", title: "because", text: (row) => row.because, rank: 5}
    ];
    const list = table({label: "Changes", columns, rows: chosen, address: (row) => (row.after ?? row.before).address, query,
        sort: "-ratio"});
    const both = chosen.filter((row) => row.ratio > 0);
    const before = both.map((row) => row.before.median).sort((a, b) => a - b);
    const ends = [before[0], before.at(-1)];
    const picture = both.length === 0 ? "" : chart({label: "Time after over time before", height: 320,
        x: {label: `seconds a step, ${named(comparison.before)}`, log: true, text: duration},
        y: {label: "times the time before", log: true, text: times},
        series: [...[...groupBy(both, (row) => row.after.family)].map(([name, list2]) => ({name, points: list2.map((row) =>
            ({x: row.before.median, y: row.ratio, address: row.after.address,
              note: [row.after.problem, `${cost(row.before)} before, ${cost(row.after)} after: ${change(row.ratio)}`]}))})),
            {name: "equal", faint: true, line: true, marks: false, points: ends.map((x) => ({x, y: 1}))}]});
    const input = h("input", {type: "search", id: "filter", value: query.get("q") ?? "", placeholder: "order=3 precision=f32 \u2026",
                              change: () => { setQuery({q: input.value}); render(); }});
    return {title: "Compare", elements: [
        h("h1", {}, "Compare"),
        choices("Pair", "pair", main.comparisons.map((one, i) => [String(i), `${named(one.before)} \u2192 ${named(one.after)}`]), String(number),
            "compare",
                new URLSearchParams()),
        h("p", {}, `${named(comparison.before)} before, ${named(comparison.after)} after: ` + (common === 0 ? "they have no problem in common."
            : `on the geometric mean of ${plural(common, "problem")} that both have, ${change(comparison.mean_ratio)} time.`)),
        choices("Change", "kind",
            [["", `all ${grouped(rows.length)}`], ...changeKinds.map((name) => [name, `${name} ${grouped(counts.get(name))}`])], kind,
                "compare", query),
        picture, h("div", {class: "controls"}, h("label", {for: "filter"}, "Filter"), input,
                   h("output", {class: "count", id: "count"}, `${grouped(chosen.length)} of ${plural(rows.length, "problem")}`)), list.element]};
}
