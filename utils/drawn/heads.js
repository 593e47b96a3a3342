const draw = (query) => {
  const told = Object.entries(data.shares).map(([name, rows], h) => {
    const row = rows[query];
    row.forEach((share, s) => set(`bar-${h}-${s}`, { width: 100 * share }));
    const most = row.indexOf(Math.max(...row));
    return `${name}: ${data.keys[most]} ${row[most].toFixed(2)}`;
  });
  write("told", `“${data.queries[query]}”, most weight — ${told.join("; ")}.`);
};
choices(data.queries.map((_, i) => `query-${i}`), 0, draw);
draw(0);
