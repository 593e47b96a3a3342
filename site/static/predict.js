// Keeps what a reader predicts in this browser, and shows it beside the result once that is opened.
"use strict";

const key = (input) => `prediction:${input.dataset.prediction}`;

// A page from a file, or a browser that keeps nothing, still works: it only forgets.
function recall(input) {
  try { return localStorage.getItem(key(input)) || ""; } catch { return ""; }
}

function keep(input) {
  try { localStorage.setItem(key(input), input.value); } catch { /* forgotten at the next visit */ }
}

function resultAfter(input) {
  const folds = [...document.querySelectorAll("details.hide")];
  return folds.find(
    (fold) => input.compareDocumentPosition(fold) & Node.DOCUMENT_POSITION_FOLLOWING
  );
}

function tell(input, fold) {
  let line = fold.querySelector(":scope > .predicted");
  if (!line) {
    line = document.createElement("p");
    line.className = "predicted";
    fold.querySelector("summary").after(line);
  }
  line.textContent = input.value ? `You predicted: ${input.value}` : "";
}

for (const input of document.querySelectorAll("[data-prediction]")) {
  input.value = recall(input);
  input.addEventListener("input", () => keep(input));
  const fold = resultAfter(input);
  if (fold) fold.addEventListener("toggle", () => tell(input, fold));
}
