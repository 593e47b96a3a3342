// What all pictures that move share. `root` is the picture that this script stands in.
const root = document.currentScript.closest(".drawn");
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const set = (name, values) => {
  for (const [key, value] of Object.entries(values)) part(name).setAttribute(key, value);
};
const write = (name, text) => { part(name).textContent = text; };
const value = (name) => part(name).value;
const number = (name) => Number(value(name));

// Words to choose among: a click, Enter or the space bar chooses, an arrow key goes on to the next.
const choices = (names, chosen, changed) => {
  let now = chosen;
  const choose = (place) => {
    now = (place + names.length) % names.length;
    names.forEach((name, i) => set(name, { "aria-pressed": i === now, tabindex: i === now ? 0 : -1 }));
    changed(now);
  };
  const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Enter: 0, " ": 0 };
  names.forEach((name, i) => {
    part(name).addEventListener("click", () => choose(i));
    part(name).addEventListener("keydown", (event) => {
      if (!(event.key in steps)) return;
      event.preventDefault();
      event.stopPropagation(); // a notebook would go to its next cell
      choose(i + steps[event.key]);
      part(names[now]).focus();
    });
  });
  names.forEach((name, i) => set(name, { tabindex: i === now ? 0 : -1 }));
  root.querySelector(".hint").removeAttribute("hidden");
};

const listen = (changed) => {
  root.querySelectorAll(".controls input, .controls select").forEach((control) => {
    control.addEventListener("input", changed);
    // The arrows move the slider, and not the notebook's cells.
    control.addEventListener("keydown", (event) => event.stopPropagation());
  });
  root.querySelector(".controls").removeAttribute("hidden");
};

// A button that lets time pass: the slider moves on by itself, and begins again behind its end.
const plays = (name) => {
  const button = part(`${name}-play`);
  const slider = part(name);
  let clock = null;
  const pause = () => {
    clearInterval(clock);
    clock = null;
    button.textContent = "▶ play";
  };
  const step = () => {
    if (!root.isConnected) return pause(); // the cell was run again
    slider.value = number(name) < Number(slider.max) ? number(name) + 1 : slider.min;
    slider.dispatchEvent(new Event("input"));
    if (slider.value === slider.max) pause();
  };
  button.addEventListener("click", () => {
    if (clock !== null) return pause();
    button.textContent = "❚❚ pause";
    clock = setInterval(step, 250);
  });
  button.addEventListener("keydown", (event) => event.stopPropagation());
};
