const softmax = (scores) => {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
};
const vector = (entries) => `(${entries.map((entry) => entry.toFixed(2)).join(", ")})`;
let query = data.query;

const draw = () => {
  const size = data.sizes[number("size")];
  const last = data.names.length - 1;
  const hidden = { none: () => false, causal: (i) => i > query, padding: (i) => i === last };
  const masked = data.names.map((_, i) => hidden[value("mask")](i));
  const grown = data.products[query].map((p) => p * Math.sqrt(size / data.features));
  const scaled = grown.map((p) => (value("scaled") === "yes" ? p / Math.sqrt(size) : p));
  const weights = softmax(scaled.map((s, i) => (masked[i] ? -Infinity : s)));
  const mixed = data.values[0].map((_, d) => weights.reduce((sum, w, i) => sum + w * data.values[i][d], 0));
  weights.forEach((w, i) => {
    const height = data.top - 5 + data.row * query;
    set(`line-${i}`, { y1: height, opacity: Math.max(w, masked[i] ? 0 : 0.03), "stroke-width": 1 + 5 * w });
    write(`product-${i}`, grown[i].toFixed(1));
    write(`scaled-${i}`, masked[i] ? "−∞" : scaled[i].toFixed(2));
    set(`bar-${i}`, { width: 120 * w });
    write(`weight-${i}`, w.toFixed(2));
  });
  write("mixed", vector(mixed));
  write("size-shown", size);
  const most = Math.max(...weights).toFixed(2);
  const first = data.names.filter((_, i) => weights[i].toFixed(2) === most).map((name) => `“${name}”`);
  const end = first.pop();
  const all = first.length ? `${first.join(", ")} and ${end} each` : end;
  write("told", `“${data.names[query]}” gives most weight, ${most}, to ${all}; ` +
    `it gets ${vector(mixed)}.`);
};
choices(data.names.map((_, i) => `query-${i}`), query, (chosen) => { query = chosen; draw(); });
listen(draw);
draw();
