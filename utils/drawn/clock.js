const draw = () => {
  const base = data.bases[number("base")];
  const position = number("position");
  const turns = [];
  for (let i = 0; i < data.pairs; i++) {
    const angle = position * base ** (-i / data.pairs);
    set(`hand-${i}`, {
      x2: data.step * (i + 0.5) + data.radius * Math.cos(angle),
      y2: data.middle - data.radius * Math.sin(angle),
    });
    write(`numbers-${i}`, `sin ${Math.sin(angle).toFixed(2)}, cos ${Math.cos(angle).toFixed(2)}`);
    turns.push((angle / (2 * Math.PI)).toFixed(3));
  }
  write("position-shown", position);
  write("base-shown", base.toLocaleString("en"));
  write("told", `Position ${position}: the hands have made ${turns.join(", ")} turns.`);
};
listen(draw);
plays("position");
draw();
