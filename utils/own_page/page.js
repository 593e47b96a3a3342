"use strict";
// The encoder of lessons 02 to 06 once more. A sentence is a list of vectors, one for each word.
const model = JSON.parse(document.getElementById("model").textContent);
const arrays = unpacked(model.weights, model.arrays);
const D = arrays["output weight"].shape[1], Dh = D / model.heads;
const ids = new Map(model.words.map((word, id) => [word, id]));
const kinds = model.kinds.map(kind => new Map(kind.map((affix, id) => [affix, id])));
const UNKNOWN = 1;

function unpacked(text, shapes) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const halves = new DataView(bytes.buffer);
  let at = 0;
  return Object.fromEntries(shapes.map(([name, shape]) => {
    const values = new Float64Array(shape.reduce((all, n) => all * n, 1));
    for (let i = 0; i < values.length; i++, at += 2) values[i] = half(halves.getUint16(at, true));
    return [name, {shape, values}];
  }));
}

function half(bits) {  // a float16: sign, 5 bits of exponent, 10 of fraction
  const sign = bits >> 15 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

const row = (name, i) => arrays[name].values.subarray(i * D, (i + 1) * D);
const add = (x, y) => x.map((vector, t) => vector.map((value, d) => value + y[t][d]));

function linear(name, x) {  // x W^T + b
  const {shape: [out, inner], values} = arrays[name + " weight"], b = arrays[name + " bias"].values;
  return x.map(vector => Float64Array.from({length: out}, (_, o) => {
    let sum = b[o];
    for (let i = 0; i < inner; i++) sum += values[o * inner + i] * vector[i];
    return sum;
  }));
}

function norm(name, x) {
  const gain = arrays[name + " weight"].values, bias = arrays[name + " bias"].values;
  return x.map(vector => {
    const mean = vector.reduce((sum, value) => sum + value) / D;
    const variance = vector.reduce((sum, value) => sum + (value - mean) ** 2, 0) / D;
    return vector.map((value, d) => gain[d] * (value - mean) / Math.sqrt(variance + 1e-5) + bias[d]);
  });
}

function turned(x) {  // pairs of columns of each head, by an angle that grows with the position
  return model.base === null ? x : x.map((vector, t) => vector.map((value, d) => {
    const column = d % Dh, even = column % 2 === 0;
    const angle = t * model.base ** (-(even ? column : column - 1) / Dh);
    return value * Math.cos(angle) + (even ? -vector[d + 1] : vector[d - 1]) * Math.sin(angle);
  }));
}

function softmax(scores) {
  const most = Math.max(...scores), powers = scores.map(score => Math.exp(score - most));
  const sum = powers.reduce((all, power) => all + power);
  return powers.map(power => power / sum);
}

function attention(name, x) {
  const [q, k, v] = ["w_q", "w_k", "w_v"].map(part => linear(`${name} ${part}`, x));
  const queries = turned(q), keys = turned(k), weights = [];
  const joined = x.map(() => new Float64Array(D));
  for (let head = 0; head < model.heads; head++) {
    const from = head * Dh;
    weights.push(queries.map((query, t) => {
      const shares = softmax(keys.map(key => {
        let dot = 0;
        for (let d = from; d < from + Dh; d++) dot += query[d] * key[d];
        return dot / Math.sqrt(Dh);
      }));
      for (let d = from; d < from + Dh; d++)
        joined[t][d] = shares.reduce((sum, share, s) => sum + share * v[s][d], 0);
      return shares;
    }));
  }
  return {found: linear(name + " w_o", joined), weights};
}

function neighbours(name, x) {  // each word, with a filter over itself and its neighbours added
  if (!(name + " weight" in arrays)) return x;
  const {shape: [, , width], values} = arrays[name + " weight"], b = arrays[name + " bias"].values;
  return x.map((vector, t) => vector.map((value, d) => {
    let sum = value + b[d];
    for (let j = 0; j < width; j++)
      sum += values[d * width + j] * (x[t + j - (width >> 1)]?.[d] ?? 0);
    return sum;
  }));
}

function affixes(word) {  // suffixes of 2, 3, 4 letters, the prefix of 3, the shape
  const lower = [...word.toLowerCase()], kind = letter => /\p{L}/u.test(letter)
    ? /\p{Lu}/u.test(letter) ? "X" : "x" : /\p{Nd}/u.test(letter) ? "9" : letter;
  const shape = [...word].map(kind).filter((one, i, all) => one !== all[i - 1]);
  const ends = [2, 3, 4].map(n => ["^", ...lower].slice(-n).join(""));
  return [...ends, lower.slice(0, 3).join(""), shape.join("")];
}

function embedded(words) {
  return words.map((word, t) => {
    const vector = Float64Array.from(row("words", ids.get(word) ?? UNKNOWN)), found = affixes(word);
    kinds.forEach((kind, n) => row(`kind ${n}`, kind.get(found[n]) ?? UNKNOWN)
      .forEach((value, d) => { vector[d] += value; }));
    return vector.map((value, d) => model.scale * value + model.positions[t][d]);
  });
}

function encoded(words) {  // -> logits (T, C), and weights: of each layer (H, T, T)
  let x = embedded(words);
  const weights = [];
  for (let n = 0; n < model.layers; n++) {
    const name = `layer ${n}`;
    x = neighbours(name + " neighbours", x);
    const seen = attention(name, x);
    weights.push(seen.weights);
    x = norm(name + " norm_1", add(x, seen.found));
    const inner = linear(name + " linear_1", x).map(vector => vector.map(v => Math.max(v, 0)));
    x = norm(name + " norm_2", add(x, linear(name + " linear_2", inner)));
  }
  return {logits: linear("output", x), weights};
}

// From here on: what is seen.
const MOST = model.positions.length;
const state = {words: [], out: new Set(), at: 0};
const make = (tag, text, rest = {}) => Object.assign(document.createElement(tag), {textContent: text}, rest);
const place = id => document.getElementById(id);
const tagOf = logits => model.tags[logits.indexOf(Math.max(...logits))];
const CLITIC = /(?<=\p{L})(n['’]t|['’](?:s|m|re|ve|ll|d))(?=\s|$|\p{P})/giu;

function split(text) {  // words, and punctuation apart, as English-EWT has them
  return text.replace(CLITIC, " $1").match(/n?['’]\p{L}+|[\p{L}\p{N}]+(?:[-.,:][\p{L}\p{N}]+)*|\S/gu) ?? [];
}

function tagged() {  // of the words that are not crossed out
  const kept = state.words.map((_, i) => i).filter(i => !state.out.has(i));
  const {logits, weights} = encoded(kept.map(i => state.words[i]));
  return {kept, weights, tags: new Map(kept.map((i, t) => [i, tagOf(logits[t])]))};
}

function draw() {
  if (!state.words.length) {
    for (const id of ["words", "head", "rows"]) place(id).replaceChildren();
    place("told").textContent = place("whom").textContent = "";
    return;
  }
  const first = encoded(state.words).logits.map(tagOf), now = tagged();
  const colours = new Map([...new Set([...first, ...now.tags.values()])].map((tag, n) =>
    [tag, model.tints[Math.min(n, model.tints.length - 1)]]));
  place("words").replaceChildren(...state.words.map((word, i) => {
    const gone = state.out.has(i), tag = now.tags.get(i), box = make("li", "");
    const chosen = make("button", "", {type: "button", onclick: () => { state.at = i; draw(); }});
    chosen.append(make("b", word), make("span", gone ? "left out" : tag));
    chosen.setAttribute("aria-pressed", String(i === state.at));
    chosen.disabled = gone;
    chosen.className = gone ? "gone" : tag === first[i] ? "" : "changed";
    if (!gone) chosen.style.background = colours.get(tag);
    const cross = make("button", gone ? "put back" : "cross out", {type: "button", className: "cross",
      onclick: () => { gone ? state.out.delete(i) : state.out.add(i); draw(); }});
    cross.setAttribute("aria-label", `${cross.textContent} ${word}`);
    cross.disabled = !gone && now.kept.length === 1;
    box.append(chosen, cross);
    return box;
  }));
  const fallen = now.kept.filter(i => now.tags.get(i) !== first[i]);
  const known = state.words.filter(word => ids.has(word)).length;
  place("told").textContent = `${known} of ${state.words.length} words were in its training; `
    + "the others it knows by their letters alone. " + (!state.out.size ? "" : fallen.length
      ? `Without what is crossed out, these get another tag: ${fallen.map(i => state.words[i]).join(", ")}.`
      : "No tag changes without what is crossed out.");
  heads(now);
}

function heads({kept, weights}) {  // whom the chosen word asked: a row for each word, a column for each head
  const at = Math.max(kept.indexOf(state.at), 0), names = [];
  weights.forEach((layer, n) => layer.forEach((_, h) => names.push(`${n + 1}.${h + 1}`)));
  place("whom").textContent = `Whom “${state.words[kept[at]]}” asks, in each layer and head`;
  const line = cells => { const tr = make("tr", ""); tr.append(...cells); return tr; };
  place("head").replaceChildren(line([make("th", "word", {scope: "col"}),
    ...names.map(name => make("th", name, {scope: "col"}))]));
  place("rows").replaceChildren(...kept.map((i, s) => line([make("th", state.words[i], {scope: "row"}),
    ...weights.flat().map(head => {
      const share = head[at][s], cell = make("td", Math.round(100 * share) + "%");
      cell.style.background = `color-mix(in srgb, var(--asked) ${Math.round(45 * share)}%, transparent)`;
      return cell;
    })])));
}

function read() {
  const found = split(place("sentence").value);
  Object.assign(state, {words: found.slice(0, MOST), out: new Set(), at: 0});
  place("more").textContent = found.length > MOST ? `Only the first ${MOST} words are read.` : "";
  draw();
}

function difference() {  // from PyTorch's logits, which the file holds for some sentences
  return Math.max(...model.samples.map(({words, logits}) => Math.max(...encoded(words).logits.map(
    (found, t) => Math.max(...found.map((value, c) => Math.abs(value - logits[t][c])))))));
}

place("sentence").addEventListener("input", read);
place("sentence").value = model.samples[0].words.join(" ");
read();
const far = difference();
place("same").textContent = far < 1e-3
  ? `This page computes what PyTorch computed: on ${model.samples.length} sentences the logits differ by at most ${far.toExponential(0)}.`
  : `Careful: this page's logits differ from PyTorch's by up to ${far.toPrecision(2)}. It was made for a post-norm encoder with ReLU.`;
