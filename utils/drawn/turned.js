const draw = () => {
  const key = number("key");
  const query = key + number("apart");
  let score = 0;
  data.speeds.forEach((speed, i) => {
    for (const [name, place] of [["query", query], ["key", key]]) {
      set(`${name}-${i}`, {
        x2: data.step * (i + 0.5) + data.radius * Math.cos(place * speed),
        y2: data.middle - data.radius * Math.sin(place * speed),
      });
    }
    const product = Math.cos((query - key) * speed);
    score += product;
    write(`product-${i}`, `q · k = ${product.toFixed(2)}`);
  });
  write("score", `score: ${score.toFixed(2)}`);
  write("key-shown", key);
  write("apart-shown", query - key);
  write("told", `Key at ${key}, query at ${query}: score ${score.toFixed(2)}.`);
};
listen(draw);
plays("key");
draw();
