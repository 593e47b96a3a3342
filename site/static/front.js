// Attention by hand, on the front page, goes through its words once, until somebody touches it.
const picture = document.querySelector(".by-hand .drawn");
const words = [...(picture?.querySelectorAll('[data-part^="query-"]') ?? [])];
if (words.length && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
  let place = 0;
  const next = () => {
    words[place].dispatchEvent(new Event("click"));
    place += 1;
    if (place === words.length) clearInterval(clock);
  };
  const clock = setInterval(next, 1500);
  for (const kind of ["pointerdown", "keydown", "input"]) {
    picture.addEventListener(kind, () => clearInterval(clock), { once: true });
  }
}

// A button that copies the lines beside it, where the browser lets it.
for (const lines of document.querySelectorAll(".run-it")) {
  const button = lines.querySelector("button");
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(lines.querySelector("pre").textContent);
    button.textContent = "Copied";
  });
}
