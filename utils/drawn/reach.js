let chosen = data.chosen;
const length = data.names.length;
const sees = {
  none: () => true,
  padding: (t, s) => s !== length - 1,
  causal: (t, s) => s <= t,
  near: (t, s) => Math.abs(t - s) <= 1,
};

const draw = () => {
  const depth = number("layers");
  const allowed = sees[value("mask")];
  // A token reaches its own place past the attention, by the residual.
  const linked = (t, s) => s === t || allowed(t, s);
  let reached = data.names.map((_, t) => t === chosen);
  for (let layer = data.most; layer >= 0; layer--) {
    const above = reached;
    if (layer < depth) reached = data.names.map((_, s) => above.some((on, t) => on && linked(t, s)));
    const on = (t) => layer <= depth && reached[t];
    data.names.forEach((_, t) => set(`dot-${layer}-${t}`, { opacity: on(t) ? 1 : 0.15 }));
    if (layer === data.most) continue;
    data.names.forEach((_, s) => data.names.forEach((_, t) => {
      const used = layer < depth && above[t] && linked(t, s);
      set(`way-${layer}-${s}-${t}`, { opacity: used ? 0.45 : 0 });
    }));
  }
  const names = data.names.filter((_, s) => reached[s]);
  write("layers-shown", depth);
  write("told", `The output of “${data.names[chosen]}” can know ${names.length} of ${length} inputs: ${names.join(", ")}.`);
};
choices(data.names.map((_, t) => `token-${t}`), chosen, (token) => { chosen = token; draw(); });
listen(draw);
draw();
