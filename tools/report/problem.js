// The page of one problem on one device: its result, its search, its kernel.

function problemPage(query) {
    const model = query.get("device") ?? "";
    const problem = query.get("problem") ?? "";
    const set = Number(query.get("set")) || 0;
    const same = allResults.filter((r) => r.problem === problem && r.set === set);
    const exact = same.filter((r) => r.model === model);
    // Journals of other tuners know a device by its name alone.
    const found = exact.length > 0 ? exact : same.filter((r) => r.fingerprint.only_name === deviceName(model));
    const result = found.find((r) => r.purpose === (query.get("purpose") ?? "")) ?? found[0];
    const searches = main.searches.filter((one) => one.problem === problem);
    const search = searches.find((one) => one.device === model) ?? searches.find((one) => one.device_name === deviceName(model));
    if (!result && !search)
        return {title: "Not here", elements: [h("h1", {}, "Not in this report"), h("p", {},
            `It has no result of \u201c${problem}\u201d on \u201c${model}\u201d.`),
                                              h("p", {}, h("a", {href: address("results")}, "All results"))]};
    const family = problem.split(" ")[0];
    const elements = [
        h("p", {class: "crumbs"}, h("a", {href: address("family", {family})}, family), " on ", modelName(model),
            set === 1 ? ` in ${main.against}` : ""),
        h("h1", {}, problem.slice(family.length + 1) || problem)];
    const purposes = [...new Set(found.map((r) => r.purpose))];
    elements.push(choices("Tuned for", "purpose", purposes.map((purpose) => [purpose, purpose || "time"]), result?.purpose, "problem", query));
    if (result) elements.push(headline(result), ...resultSections(result));
    else elements.push(h("p", {class: "warning"}, "There is no result of this problem in the database, only the journal of its search."));
    if (search) elements.push(...searchSections(search, query));
    else elements.push(h("section", {}, h("h2", {}, "The search"), h("p", {class: "muted"},
        "This report has no journal of it. 'hone tune' writes one for every search, and " +
        "'hone report --journals' tells of it: what was tried, what failed, which tunables mattered.")));
    if (result) elements.push(kernelSection(result));
    return {title: problem, elements};
}

function headline(r) {
    const near = r.ceiling_fraction;
    return h("div", {class: "figures large"},
        h("div", {}, h("b", {}, duration(r.median)), `a step${r.half > 0 ? `, \u00b1${percent(r.half)}` : ""}`),
        h("div", {}, h("b", {}, near > 0 ? percent(near) : "-"), near > 0 ? `of the ${r.ceiling} ceiling` : "ceiling not measured",
            near > 0 ? bar(near, nearness(near)) : ""),
        h("div", {}, h("b", {}, times(r.gain)), r.gain > 0 ? "the safe configuration" : "safe configuration not measured"),
        h("div", {}, h("b", {}, significant(r.rate)), `G ${r.unit}/s`));
}

function trust(r) {
    const device = r.fingerprint;
    return h("section", {}, h("h2", {}, "Can it be trusted"), facts([
        ["verified", r.error !== null && r.error <= r.tolerance ? `largest difference ${small(r.error)}, ${small(r.tolerance)} allowed`
            : "no: it is never handed out"],
        ["found", `${plural(r.evaluations, "candidate")}${r.strategy ? ` by ${r.strategy}` : ""}${r.seed ? `, seed ${r.seed}` : ""}${r.found ? `, ${r.found}` : ""}`], ["date", r.date],
        ["hone", `${r.hone}, kernel ${r.source}`],
        ["device", `${device.name}, ${device.architecture}, ${device.units} ${device.target === "cpu" ? "threads" : "multiprocessors"}`],
        ["driver", device.driver], ["compiler", device.compiler], ["threads", r.team], ["measured under", r.conditions]]));
}

function resultSections(r) {
    const device = r.fingerprint;
    const sections = [];
    if (r.doubt || r.remark) sections.push(h("p", {class: "warning"}, `${r.remark}${r.doubt ? `: ${r.doubt}` : ""}`));
    const told = h("section", {}, h("h2", {}, "Result"), facts([
        ["limit", r.limit], ["rates", `${significant(r.bandwidth)} GB/s, ${significant(r.flops)} GFLOP/s`],
        ["work", `${bytes(r.bytes)} of compulsory traffic and ${grouped(r.operations)} operations a step, ${significant(r.intensity)} operations a byte`],
        ["interval", `${duration(r.low)} to ${duration(r.high)} with 95 % confidence, fastest ${duration(r.minimum)}, ${plural(r.samples, "sample")}`],
        ["safe configuration", r.safe > 0 ? duration(r.safe) : ""],
        ["energy", r.joules > 0 ? `${significant(r.joules)} J a step, ${significant(r.watts)} W, by ${r.meter}` : ""],
        ["shared", r.partner ? `${percent(r.share)} here, the rest on ${r.partner}` : ""]]));
    sections.push(h("div", {class: "beside"}, told, trust(r)));
    const other = allResults.filter((one) => one.problem === r.problem && one !== r);
    if (other.length > 0)
        sections.push(h("section", {}, h("h2", {}, "The same problem elsewhere"), plainTable(["device", "step", "ratio", "of ceiling"],
            other.map((one) =>
            [h("a", {href: one.address},
                `${one.fingerprint.name}${one.set === 1 ? `, ${main.against}` : ""}${one.purpose ? `, for ${one.purpose}` : ""}`),
             duration(one.median), times(one.median / r.median),
                 one.ceiling_fraction > 0 ? `${percent(one.ceiling_fraction)} ${one.ceiling}` : "-"]), [1, 2, 3])));
    sections.push(h("section", {}, h("h2", {}, "Winner"), r.config === "" ? h("p", {class: "none"}, "The family has no tunables.")
        : h("div", {class: "chips large"}, r.config.split(",").map((word) => h("span", {class: "chip"}, h("i", {}, word.slice(0,
            word.indexOf("="))), word.slice(word.indexOf("=") + 1))))));
    const rivals = main.rivals.filter((rival) => rival.device === r.model && rival.problem === r.problem);
    if (rivals.length > 0)
        sections.push(h("section", {}, h("h2", {}, "Rivals, timed in turns with it"), plainTable(["table", `rival, G ${r.unit}/s`, "tuned then",
            "rival\u2019s time over ours"],
            rivals.map((rival) => [rival.table, significant(1e-9 / rival.seconds), rival.ours > 0 ? significant(1e-9 / rival.ours) : "-",
                                   rival.ours > 0 ? times(rival.seconds / rival.ours) : "-"]), [1, 2, 3])));
    const quoted = shellWords(r.problem);
    const here = device.target === "cpu" ? "cpu" : "cuda";
    const search = r.strategy && r.seed ? ` --strategy ${r.strategy} --seed ${r.seed}` : "";
    const lines = [`hone tune ${quoted} --device ${here}${search}`, `hone verify ${quoted} --device ${here}`,
        `hone explain ${quoted} --as ${shellWord(r.model)}`];
    const target = device.target === "cpu" ? "cpu" : `cuda --arch ${shellWord(device.architecture)}`;
    if (main.families.some((family) => family.name === r.family))
        lines.push(`hone compile ${quoted} --target ${target} --config ${shellWord(r.config)} --report`);
    sections.push(h("section", {}, h("h2", {}, "Repeat it"), lines.map(command)));
    return sections;
}

function kernelSection(r) {
    const group = main.kernels.find((one) => one.device === r.model && one.family === r.family);
    const content = h("div");
    const shown = () => {
        const texts = part(group.part);
        const kernel = texts.kernels[r.place];
        if (!kernel) return [h("p", {class: "muted"}, "This version of hone generates no kernel for this configuration.")];
        const other = h("p", {class: "warning"},
            "This is not the very text that was measured: hone emits another one for the configuration today. 'hone verify' tells whether " +
            "the result still holds.");
        return [kernel.measured ? "" : other, kernel.launches.length > 0 ? h("ul", {}, kernel.launches.map((line) => h("li", {}, line))) : "",
            sourceView(kernel.lines.map((i) => texts.lines[i]))];
    };
    if (!group || r.set !== 0) return h("section", {}, h("h2", {}, "Kernel"), h("p", {class: "muted"}, "This report has no text of its kernel."));
    const details = h("details", {id: "kernel", toggle: () => {
        if (details.open && !content.hasChildNodes()) content.append(...shown().filter((one) => one !== ""));
        setQuery({kernel: details.open ? "shown" : ""});
    }}, h("summary", {}, "Source of the kernel"), content);
    if (currentQuery().get("kernel") === "shown") details.open = true;
    return h("section", {}, h("h2", {}, "Kernel"), details);
}
