// Searches: the list of all, and what one tells of its problem (tools/report/report_data.hpp says what is in their parts).

function costText(objective, value) {
    return objective === "time" ? duration(value) : significant(value);
}

// Best so far as a multiple of the best at the end.
function convergencePoints(search, over) {
    if (!(search.best > 0)) return [];
    const points = search.improvements.map((step) => ({x: step[over], y: step.cost / search.best,
        note: [search.problem, `candidate ${step.evaluation}, after ${duration(step.elapsed)}`, `${costText(search.objective, step.cost)}, ` +
               `${times(step.cost / search.best)} the best`, step.configuration]}));
    const end = over === "evaluation" ? search.evaluations : search.seconds;
    if (points.length > 0 && points.at(-1).x < end) points.push({x: end, y: points.at(-1).y});
    return points;
}

function convergenceChart(searches, over, hidden) {
    const series = searches.map((search) => ({name: searches.length > 1 ? search.brief : "", line: true, step: true, marks: searches.length < 6,
                                              points: convergencePoints(search, over)}));
    const high = series.flatMap((one) => one.points).reduce((most, point) => Math.max(most, point.y), 1);
    return chart({label: "Best so far over the search", series, height: 300, hidden, hide: keepHidden,
                  x: over === "evaluation" ? {label: "candidates evaluated"} : {label: "time of the search",
                      text: (value) => value > 0 ? duration(value) : "0"},
                  y: {label: "best so far, times the best", log: high > 5, text: times}});
}

// What the model says of going on.
function furtherMinute(search) {
    const minute = search.further_minute;
    if (!minute) return "";
    if (minute.candidates === 0) return "Nothing is left to try: the whole space was.";
    return `A further minute is worth ${plural(Math.round(minute.candidates), "candidate")}: predicted to bring ${percent(minute.gain)}, with a chance of ` +
        `${percent(minute.chance_of_one_percent)} of more than 1 %.`;
}

function failureBars(failures) {
    return bars(failures.map((failure) => ({name: `${failure.status}`, value: failure.count, note: failure.reason, kind: "poor"})));
}

function searchesPage(query) {
    const searches = main.searches;
    if (searches.length === 0)
        return {title: "Searches", elements: [h("h1", {}, "Searches"), h("p", {}, "This report was made without the journals of its searches."),
                                              command("hone report --journals -o report.html")]};
    const over = nearestTo(query.get("over"), ["evaluation", "elapsed"], "evaluation");
    const text = (query.get("q") ?? "").toLowerCase().split(/\s+/);
    const chosen = searches.filter((search) => text.every((word) => `${search.problem} ${search.device_name} ${search.strategy}`.toLowerCase().includes(word)));
    const total = new Map();
    for (const search of chosen)
        for (const failure of search.failures) {
            const key = `${failure.status}\n${failure.reason.replace(/\d[\d.]*/g, "#")}`;
            const entry = total.get(key) ?? {...failure, count: 0};
            entry.count += failure.count;
            total.set(key, entry);
        }
    const failed = (search) => search.evaluations - search.measured;
    const columns = [
        {name: "problem", title: "problem", text: (s) => s.brief, full: (s) => s.problem, most: 96},
        {name: "device", title: "device", text: (s) => s.device_name, most: 24, rank: 4},
        {name: "strategy", title: "strategy", text: (s) => s.strategy, rank: 7},
        {name: "evaluations", title: "candidates", number: true, rank: 2, text: (s) => grouped(s.evaluations), value: (s) => s.evaluations},
        {name: "members", title: "in the space", help: "members of the space", number: true, rank: 8, text: (s) => s.members > 0 ? grouped(s.members) : "-",
            value: (s) => s.members},
        {name: "failed", title: "failed", number: true, rank: 5, text: (s) => grouped(failed(s)), value: failed},
        {name: "best", title: "best", number: true, text: (s) => costText(s.objective, s.best ?? 0), value: (s) => s.best ?? 0},
        {name: "gain", title: "safe over best", number: true, rank: 3, text: (s) => times(s.safe / s.best), value: (s) => s.safe / s.best || 0},
        {name: "seconds", title: "time", number: true, rank: 6, text: (s) => duration(s.seconds), value: (s) => s.seconds},
        {name: "end", title: "end", text: (s) => s.complete ? "complete" : "cut short", style: (s) => s.complete ? "" : "poor", rank: 1}
    ];
    const list = table({label: "Searches", columns, rows: chosen, address: (s) => problemAddress(s.device, s.problem), query});
    const input = h("input", {type: "search", id: "filter", value: query.get("q") ?? "", placeholder: "words of problem, device, strategy",
                              change: () => { setQuery({q: input.value}); render(); }});
    const most = 24;
    const sum = (value) => chosen.reduce((all, search) => all + value(search), 0);
    return {title: "Searches", elements: [
        h("h1", {}, "Searches"),
        h("p", {class: "muted"},
            `${plural(chosen.length, "search")}: ${plural(sum((s) => s.evaluations), "candidate")}, ${grouped(sum((s) => s.measured))} measured, ` +
          `${grouped(sum(failed))} failed` +
          (sum((s) => s.seconds) > 0 ? `, in ${duration(sum((s) => s.seconds))}` : "")),
        h("div", {class: "controls"}, h("label", {for: "filter"}, "Filter"), input,
          h("output", {class: "count", id: "count"}, `${grouped(chosen.length)} of ${plural(searches.length, "search")}`)),
        list.element,
        h("section", {}, h("h2", {}, "Why candidates failed"), total.size > 0 ? failureBars([...total.values()].sort((a, b) => b.count - a.count))
            : h("p", {class: "none"}, "None failed.")),
        h("section", {}, h("h2", {}, "How the searches converged"),
          chosen.length > most ? h("p", {class: "muted"}, `The first ${most} of ${grouped(chosen.length)}; filter to see others.`) : "",
          select("over", "over", [["evaluation", "candidates"], ["elapsed", "time"]], over),
          convergenceChart(chosen.slice(0, most), over, hiddenIn(query)))]};
}

// What one search tells

function searchSections(summary, query) {
    const {explanation, candidates} = part(summary.part);
    const first = h("div", {class: "beside"}, h("section", {}, h("h2", {}, "The search"), searchFacts(summary, explanation)));
    const sections = [first];
    const add = (title, ...content) => sections.push(h("section", {}, h("h2", {}, title), ...content));
    if (explanation.failures.length > 0) add("What failed", failureBars(explanation.failures));
    if (!(explanation.best > 0)) return sections;
    first.append(h("section", {}, h("h2", {}, "How close the candidates came to the best"), histogram(explanation)));
    if (explanation.effects?.length > 0) add("Which tunables mattered", importance(explanation));
    else if (explanation.explained !== undefined)
        add("Which tunables mattered", h("p", {},
            `The model of the times explains ${percent(Math.max(0, explanation.explained))} of their variation, ` +
            "too little to ask it."));
    if (explanation.neighbours.length > 0) add("What changing one value of the winner costs", neighbours(explanation));
    const over = nearestTo(query.get("over"), ["evaluation", "elapsed"], "evaluation");
    add("How the search converged", select("over", "over", [["evaluation", "candidates"], ["elapsed", "time"]], over),
        convergenceChart([summary], over, new Set()), h("p", {}, furtherMinute(explanation)));
    const tried = candidateList(candidates, explanation);
    if (tried.tunables.length > 1) {
        add("Any two tunables", pairs(tried, query));
        add("All tunables at once", parallel(tried, query));
    }
    if (explanation.missing.length > 0) add("What cannot be told", h("ul", {}, explanation.missing.map((line) => h("li", {}, line))));
    return sections;
}

function searchFacts(summary, explanation) {
    const cost = (value) => value > 0 ? costText(summary.objective, value) : undefined;
    return facts([
        ["candidates", `${grouped(summary.evaluations)}${summary.members > 0 ? ` of ${grouped(summary.members)}` : ""} by ${summary.strategy}` +
            (summary.seed ? `, seed ${summary.seed}` : "")],
        ["measured", `${grouped(summary.measured)}; ${grouped(summary.evaluations - summary.measured)} failed`],
        ["time", summary.seconds > 0 ? duration(summary.seconds) : undefined], ["objective", summary.objective],
        ["best", cost(explanation.best)], ["median", cost(explanation.median)], ["worst", cost(explanation.worst)],
        ["safe configuration", cost(explanation.safe) ?? "failed"], ["journal", summary.journal],
        ["end", summary.complete ? undefined : "the run did not come to its end"]]);
}

function histogram(explanation) {
    return bars(explanation.histogram.map((bin) => ({name: bin.to === null ? `beyond ${times(bin.from)}` : `to ${times(bin.to)}`,
        value: bin.count})));
}

function importance(explanation) {
    const winner = assignments(explanation.winner.split(","));
    const shown = explanation.effects.filter((effect) => effect.share >= 0.01).slice(0, 16);
    return [
        h("p", {class: "hint"},
            `Part of the variation of the times, by a model that explains ${percent(explanation.explained)} of it (each time predicted from the ` +
          "others). Behind it the mean time with each value, as a multiple of the best value's; the winner's value is framed."),
        bars(shown.map((effect) => ({name: effect.tunables.join(" with "), value: effect.share, text: percent(effect.share),
                                     note: effect.tunables.length === 1 ? valueChips(effect, winner) : ""})))];
}

function valueChips(effect, winner) {
    const best = Math.min(...effect.values.map((one) => one.factor));
    return h("span", {class: "chips"}, effect.values.map((one) =>
        h("span", {class: String(one.value) === winner.get(effect.tunables[0]) ? "chip won" : "chip"}, h("i", {}, one.value),
            times(one.factor / best))));
}

function neighbours(explanation) {
    const winner = assignments(explanation.winner.split(","));
    const text = (one) => one.kind === "impossible" ? "impossible" : `${one.kind === "predicted" ? "~" : ""}${times(one.ratio)}`;
    const title = (one) => one.kind === "predicted" ? `predicted: ${times(one.interval[0])} to ${times(one.interval[1])} with 95 %` : one.reason ?? "measured";
    return [h("p", {class: "hint"},
        "Times the winner's time as the search measured it; ~ is predicted by the model (its interval is shown where the pointer rests)."),
        plainTable(["tunable", "winner", "instead"], [...groupBy(explanation.neighbours, (one) => one.tunable)].map(([tunable, list]) =>
            [tunable, winner.get(tunable) ?? "", h("span", {class: "chips"}, list.map((one) => h("span", {class: `chip ${one.kind}`,
                title: title(one)}, h("i", {}, one.value), text(one))))]))];
}

// Candidates with their values by tunable, the measured ones with their cost as a multiple of the best.
function candidateList(candidates, explanation) {
    const count = candidates.tunables.length;
    const rows = candidates.costs.map((cost, i) => ({cost, ratio: cost / explanation.best, status: candidates.status[i],
                                                    values: candidates.values.slice(i * count, (i + 1) * count)}));
    const used = candidates.tunables.map((tunable, d) => ({...tunable, d})).filter((tunable) => tunable.values.length > 1);
    const share = new Map((explanation.effects ?? []).filter((effect) => effect.tunables.length === 1).map((effect) => [effect.tunables[0],
        effect.share]));
    used.sort((a, b) => (share.get(b.name) ?? 0) - (share.get(a.name) ?? 0));
    return {tunables: used, all: candidates.tunables, rows};
}

const configurationOf = (tried, row) => tried.all.map((tunable, d) => `${tunable.name}=${tunable.values[row.values[d]]}`).join(", ");

function pairs(tried, query) {
    const names = tried.tunables.map((tunable) => tunable.name);
    const across = tried.tunables.find((one) => one.name === query.get("a")) ?? tried.tunables[0];
    const up = query.get("b") === "time" ? undefined : tried.tunables.find((one) => one.name === query.get("b") && one !== across) ??
        tried.tunables.find((one) => one !== across);
    return [
        h("div", {class: "controls"}, select("", "a", names.map((name) => [name, name]), across.name),
          select("against", "b", [...names.filter((name) => name !== across.name), "time"].map((name) => [name, name]), up?.name ?? "time")),
        up ? heatMap(tried, across, up) : strip(tried, across)];
}

// Costs of all candidates over the values of one tunable, and a line through the best of each.
function strip(tried, tunable) {
    const measured = tried.rows.filter((row) => row.cost > 0);
    const best = tunable.values.map((_, v) => measured.filter((row) => row.values[tunable.d] === v).reduce((least, row) => Math.min(least,
        row.ratio), Infinity));
    return chart({label: `Times over ${tunable.name}`, height: 320, x: {label: tunable.name, names: tunable.values}, y: {label: "times the best",
        log: true, text: times},
        series: [{name: "best with this value", line: true, points: best.map((y, x) => ({x, y, note: [`${tunable.name}=${tunable.values[x]}`,
            times(y)]}))},
                 {name: "candidates", faint: true, points: measured.map((row, i) => ({x: row.values[tunable.d] + ((i * 0.618034) % 1 - 0.5) * 0.6,
                     y: row.ratio,
                     note: [times(row.ratio), configurationOf(tried, row)]}))}]});
}

/** Of each pair of values the best time, as a multiple of the best of all. */
function heatMap(tried, across, up) {
    const cell = (a, b) => tried.rows.filter((row) => row.values[across.d] === a && row.values[up.d] === b);
    return [h("p", {class: "hint"},
        "In each place the best time with both values, as a multiple of the best of all, and how many candidates were tried."),
        h("div", {class: "plain"}, h("table", {class: "heat"},
            h("thead", {}, h("tr", {}, h("th", {scope: "col"}, `${up.name} \\ ${across.name}`), across.values.map((value) => h("th", {scope: "col"},
                value)))),
            h("tbody", {}, up.values.map((value, b) => h("tr", {}, h("th", {scope: "row"}, value), across.values.map((_, a) => {
                const rows = cell(a, b);
                const measured = rows.filter((row) => row.cost > 0);
                if (rows.length === 0) return h("td", {class: "empty"}, "\u00b7");
                if (measured.length === 0) return h("td", {class: "failed"}, "failed", h("small", {}, ` ${rows.length}`));
                const ratio = measured.reduce((least, row) => Math.min(least, row.ratio), Infinity);
                return h("td", {class: `heat-${heat(ratio)}`}, times(ratio), h("small", {}, ` ${rows.length}`));
            })))))) ];
}

function heat(ratio) {
    return [1.01, 1.05, 1.1, 1.2, 1.5, 2, 3].findIndex((bound) => ratio <= bound) + 1 || 8;
}

/** A line for each candidate through its values on an axis for each tunable, the last axis its time. Values that are pressed choose among them. */
function parallel(tried, query) {
    const only = new Map((query.get("only") ?? "").split(",").filter((word) => word.includes("=")).map((word) => {
        const [name, value] = [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)];
        return [name, value];
    }));
    const measured = tried.rows.filter((row) => row.cost > 0).sort((a, b) => b.ratio - a.ratio);
    const chosen = measured.filter((row) => tried.tunables.every((tunable) => !only.has(tunable.name) ||
        tunable.values[row.values[tunable.d]] === only.get(tunable.name)));
    const box = h("div", {class: "drawing scroll-x"});
    const worst = measured.reduce((most, row) => Math.max(most, row.ratio), 1.01);
    const draw = (width = Math.max(box.clientWidth, tried.tunables.length * 92 + 150)) =>
        box.replaceChildren(parallelPicture(tried, measured, new Set(chosen), worst, only, width));
    onResize(box, () => draw());
    onPrint(box, () => draw(paperWidth), () => draw());
    return [
        h("p", {class: "hint"},
            "A line for each measured candidate; the tunables that mattered most come first. Press a value to keep its candidates only."),
        h("p", {}, `${grouped(chosen.length)} of ${plural(measured.length, "candidate")}` + (chosen.length > 0 ? `, the best ${times(chosen.at(-1).ratio)}` : ""),
          only.size > 0 ? [" ", h("button", {type: "button", id: "all-values", click: () => { setQuery({only: ""}); render(); }}, "All again")] : ""),
        box];
}

function parallelPicture(tried, measured, chosen, worst, only, width) {
    const [left, right, top, height] = [64, 90, 34, 340];
    const bottom = height - 14;
    const axes = tried.tunables.length;
    const x = (i) => left + (width - left - right) * i / axes;
    const y = (tunable, value) => tunable.values.length > 1 ? bottom - (bottom - top) * value / (tunable.values.length - 1) : (top + bottom) / 2;
    const time = (ratio) => bottom - (bottom - top) * Math.log(ratio) / Math.log(worst);
    const picture = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "parallel", role: "group",
        "aria-label": "Parallel coordinates of the candidates"});
    const kinds = [["out", () => false], ["far", (r) => r > 1.5], ["near", (r) => r > 1.1 && r <= 1.5], ["best", (r) => r <= 1.1]];
    const lineOf = (row) => tried.tunables.map((tunable,
        i) => `${i === 0 ? "M" : "L"}${round1(x(i))},${round1(y(tunable, row.values[tunable.d]))}`).join("") +
        `L${round1(x(axes))},${round1(time(row.ratio))}`;
    const most = 4000;  // lines: beyond it those of the slowest would only hide one another
    const rows = measured.slice(-most);
    for (const [kind, test] of kinds) {
        const path = rows.filter((row) => kind === "out" ? !chosen.has(row) : chosen.has(row) && test(row.ratio)).map(lineOf).join("");
        if (path !== "") picture.append(svg("path", {d: path, class: `candidate ${kind}`}));
    }
    const press = (name, value) => {
        if (only.get(name) === value) only.delete(name);
        else only.set(name, value);
        setQuery({only: [...only].map(([key, one]) => `${key}=${one}`).join(",")});
        render();
    };
    tried.tunables.forEach((tunable, i) => {
        picture.append(svg("path", {d: `M${round1(x(i))},${top}V${bottom}`, class: "axis-line"}),
                       svg("text", {x: x(i), y: i % 2 === 0 ? 12 : 25, "text-anchor": "middle", class: "axis"}, tunable.name));
        tunable.values.forEach((value, v) => {
            const act = () => press(tunable.name, value);
            picture.append(svg("text", {x: x(i) - 5, y: y(tunable, v) + 4, "text-anchor": "end", tabindex: 0, role: "button",
                class: only.get(tunable.name) === value ? "value won" : "value",
                                        "aria-pressed": String(only.get(tunable.name) === value), "aria-label": `${tunable.name} ${value}`,
                                            click: act,
                                        keydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } }},
                                            value));
        });
    });
    picture.append(svg("path", {d: `M${round1(x(axes))},${top}V${bottom}`, class: "axis-line"}),
                   svg("text", {x: x(axes), y: axes % 2 === 0 ? 12 : 25, "text-anchor": "middle", class: "axis"}, "time"));
    for (const tick of [1, ...logTicks(1, worst, 5).filter((one) => one > 1.05)])
        picture.append(svg("text", {x: x(axes) + 6, y: time(tick) + 4}, times(tick)));
    return picture;
}
