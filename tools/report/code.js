// Source text with its comments, words of the language, numbers and strings told apart: a scanner, no parser.

const languageWords = new Set(("alignas alignof auto bool break case char class const constexpr continue default do double else enum explicit extern false " +
    "float for goto if inline int long namespace new nullptr operator private protected public return short signed sizeof static struct switch template " +
    "this true typedef typename union unsigned using virtual void volatile while int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t " +
    "__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__ __noinline__ __align__ __syncthreads " +
    "__syncwarp threadIdx blockIdx blockDim gridDim warpSize asm restrict").split(" "));

const tokens = new RegExp([
    String.raw`(?<comment>//[^\n]*|/\*[^]*?(?:\*/|$))`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)`,
    String.raw`(?<directive>^[ \t]*#[^\n]*)`,
    String.raw`(?<number>\b(?:0[xX][0-9a-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?)[fFuUlL]*)`,
    String.raw`(?<word>[A-Za-z_]\w*)`
].join("|"), "gm");

const longestColoured = 400_000;  // characters: beyond it colours would take a second

/** The text as the contents of an element of code. */
function highlighted(text) {
    const fragment = document.createDocumentFragment();
    if (text.length > longestColoured) {
        fragment.append(text);
        return fragment;
    }
    let plain = "";
    let end = 0;
    const flush = () => {
        if (plain !== "") fragment.append(plain);
        plain = "";
    };
    for (const match of text.matchAll(tokens)) {
        plain += text.slice(end, match.index);
        end = match.index + match[0].length;
        const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
        if (kind === "word" && !languageWords.has(match[0])) {
            plain += match[0];
        } else {
            flush();
            fragment.append(h("span", {class: `c-${kind}`}, match[0]));
        }
    }
    plain += text.slice(end);
    flush();
    return fragment;
}

/** Source with the numbers of its lines and a button that copies it. */
function sourceView(lines) {
    const text = lines.join("\n");
    const button = h("button", {type: "button", class: "copy", click: () => copyText(text, button)}, "Copy");
    const numbers = h("pre", {class: "numbers", "aria-hidden": "true"}, lines.map((_, i) => i + 1).join("\n"));
    return h("div", {class: "source"}, button,
             h("div", {class: "source-scroll", tabindex: 0, role: "region", "aria-label": "source of the kernel"}, numbers,
               h("pre", {}, h("code", {}, highlighted(text)))));
}
