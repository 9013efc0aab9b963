// The report's data: records as objects, and parts that are read when they are shown first.

const parts = new Map();

/** A part of the data by its name; undefined when the report has none. */
function part(name) {
    if (!parts.has(name)) {
        const element = document.getElementById(`data-${name}`);
        parts.set(name, element ? JSON.parse(element.textContent) : undefined);
    }
    return parts.get(name);
}

/** What is about a problem of a family: a result, or a search. */
class Subject {
    /** Name and value of each of the problem's parameters, as text. */
    get parameters() {
        this.parameterMap ??= assignments(this.problem.split(" ").slice(1));
        return this.parameterMap;
    }
    /** What tells the problem apart from the others of its family: without what these have in common. */
    get briefTitle() {
        if (this.briefWords === undefined) {
            const differ = varyingIn(this.family);
            const told = [...this.parameters].filter(([name]) => differ.has(name));
            const sizes = sizesOf(this.family);
            // Equal sizes once: "nx=ny=nz=512".
            this.briefWords = told.map(([name, value], i) => {
                const [next, nextValue] = told[i + 1] ?? [];
                return sizes.has(name) && sizes.has(next) && value === nextValue ? `${name}=` : `${toldBy(differ, name, value)} `;
            }).join("").trim();
        }
        return this.briefWords;
    }
    get brief() { return this.briefTitle ? `${this.family} ${this.briefTitle}` : this.problem; }
}

/** A result, with what follows from its figures. */
class Result extends Subject {
    constructor(fields, row, place, devices) {
        super();
        for (let i = 0; i < fields.length; ++i) this[fields[i]] = row[i];
        this.place = place;
        this.fingerprint = devices[this.device];
        this.model = this.fingerprint.key;
    }
    get rate() { return this.updates / this.median * 1e-9; }
    get bandwidth() { return this.bytes / this.median * 1e-9; }
    get flops() { return this.operations / this.median * 1e-9; }
    get gain() { return this.safe > 0 ? this.safe / this.median : 0; }
    get half() { return this.median > 0 ? Math.max(0, (this.high - this.low) / 2 / this.median) : 0; }
    get intensity() { return this.bytes > 0 ? this.operations / this.bytes : 0; }
    get text() {
        this.lowerCase ??= [this.problem, this.config, this.fingerprint.name, this.model, this.purpose, this.remark, this.strategy, this.date, this.hone]
            .join(" ").toLowerCase();
        return this.lowerCase;
    }
    get address() { return problemAddress(this.model, this.problem, this.purpose, this.set); }
}

function assignments(words) {
    return new Map(words.filter((word) => word.includes("=")).map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
}

/** A search: the summary of its journal. */
class Search extends Subject {
    constructor(summary) {
        super();
        Object.assign(this, summary);
        this.family = this.problem.split(" ")[0];
    }
}

const main = part("main");
const inOrder = new Intl.Collator("en", {numeric: true}).compare;
main.searches = main.searches.map((summary) => new Search(summary)).sort((a, b) => inOrder(a.problem, b.problem));
// Processors with other threads are other devices of the same name.
for (const device of main.devices) device.only_name = device.name;
for (const device of main.devices)
    if (device.target === "cpu" && main.devices.some((one) => one.only_name === device.only_name && one.units !== device.units))
        device.name = `${device.only_name}, ${device.units} threads`;

const allResults = main.records.map((row, place) => new Result(main.fields, row, place, main.devices));
const results = allResults.filter((result) => result.set === 0);
const models = groupBy(results, (result) => result.model);
const families = groupBy(results, (result) => result.family);

/** The parameters that differ, or that some lack, each with its values in the order of the results. */
function varying(rows) {
    const found = new Map();
    for (const r of rows)
        for (const [name, value] of r.parameters) {
            if (!found.has(name)) found.set(name, {values: new Set(), count: 0});
            found.get(name).values.add(value);
            ++found.get(name).count;
        }
    return new Map([...found].filter(([, {values, count}]) => values.size > 1 || count < rows.length).map(([name, {values}]) => [name, values]));
}

/** The names of the parameters that are sizes, of a family that hone knows. */
function sizesOf(family) {
    return new Set(main.families.find((one) => one.name === family)?.parameters.filter((parameter) => parameter.size).map((parameter) => parameter.name));
}

const varyingOf = new Map();

/** What differs between all that is about a family: the results, of both databases where there are two, and the searches. */
function varyingIn(family) {
    if (varyingOf.size === 0)
        for (const [name, list] of groupBy([...allResults, ...main.searches], (one) => one.family)) varyingOf.set(name, varying(list));
    return varyingOf.get(family);
}

/** A value that says by itself which parameter it is of; else with the name: "f32", "order=3", "absorbing=none". `differ`: from varying. */
function toldBy(differ, name, value) {
    const plain = /^[A-Za-z]\w+$/.test(value) && !["none", "yes", "no", "on", "off", "all"].includes(value);
    const alone = plain && [...differ].every(([other, values]) => other === name || !values.has(value));
    return alone ? value : `${name}=${value}`;
}

/** A map from keys to lists, in the order of the first of each. */
function groupBy(list, key) {
    const groups = new Map();
    for (const item of list) {
        const group = groups.get(key(item));
        if (group) group.push(item);
        else groups.set(key(item), [item]);
    }
    return groups;
}

/** As modelName, but as the device calls itself, which is all that journals of other tuners know of it. */
function deviceName(model) {
    return main.devices.find((device) => device.key === model)?.only_name ?? modelName(model);
}

function modelName(model) {
    return main.devices.find((device) => device.key === model)?.name ?? main.searches.find((search) => search.device === model)?.device_name ?? model;
}

/** The middle value; of an even number the upper one of the middle two. Undefined of none. */
function median(values) {
    return values.length === 0 ? undefined : [...values].sort((a, b) => a - b)[values.length >> 1];
}

function geometricMean(values) {
    return values.length === 0 ? undefined : Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** The address of a page: what stands behind the file's name. */
function address(page, query = {}) {
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
        if (value !== undefined && value !== null && value !== "") words.set(name, value);
    return `#/${page}${words.size > 0 ? "?" + words : ""}`;
}

function problemAddress(model, problem, purpose = "", set = 0) {
    return address("problem", {device: model, problem, purpose, set: set || undefined});
}

// What a filter may compare, beside the parameters of the problems: by the words of 'hone show'.
const quantities = {
    ceiling: (result) => 100 * result.ceiling_fraction, gain: (result) => result.gain, rate: (result) => result.rate, step: (result) => result.median,
    bandwidth: (result) => result.bandwidth, flops: (result) => result.flops, unsure: (result) => 100 * result.half, energy: (result) => result.joules,
    evaluations: (result) => result.evaluations
};
const words = {
    family: (result) => result.family, device: (result) => result.model, purpose: (result) => result.purpose || "time", date: (result) => result.date,
    hone: (result) => result.hone, strategy: (result) => result.strategy, driver: (result) => result.fingerprint.driver,
    compiler: (result) => result.fingerprint.compiler, remark: (result) => result.remark, unit: (result) => result.unit, limit: (result) => result.ceiling
};

/**
 * A test of results for the words of a filter, which must all hold: `order=3,4` a parameter, `precision=f32`, `ceiling<80%` and `gain>2` figures,
 * `family=dg_volume` and the like, `-word` its contrary, and any other word a part of the problem, configuration, device or remarks.
 */
function filterOf(text) {
    const tests = text.trim().split(/\s+/).filter((word) => word !== "").map(testOf);
    return (result) => tests.every((test) => test(result));
}

function testOf(word) {
    if (word.startsWith("-") && word.length > 1) {
        const test = testOf(word.slice(1));
        return (result) => !test(result);
    }
    const comparison = /^([A-Za-z_]\w*)([<>])([0-9.]+(?:e-?\d+)?)%?$/.exec(word);
    if (comparison) {
        const [, name, sign, bound] = comparison;
        const value = (result) => Object.hasOwn(quantities, name) ? quantities[name](result) : Number(result.parameters.get(name));
        return (result) => {
            const number = value(result);
            if (name === "ceiling" && number <= 0) return false;  // not measured
            return sign === "<" ? number < Number(bound) : number > Number(bound);
        };
    }
    const equals = word.indexOf("=");
    if (equals > 0) {
        const name = word.slice(0, equals);
        const values = word.slice(equals + 1).split(",");
        return (result) => {
            const value = result.parameters.get(name) ?? (Object.hasOwn(words, name) ? words[name](result) : undefined);
            return value !== undefined ? values.includes(value) : result.text.includes(word.toLowerCase());
        };
    }
    const lower = word.toLowerCase();
    return (result) => result.text.includes(lower);
}
