// What JupyterLab does or refuses in silence: it writes into no locked cell and deletes none, and M
// turns an answer into text, which grading would not read.
import { about, tell } from "./lesson.js";

export default ({ notebook: { INotebookTracker } }) => ({
  id: "course-lessons:guarded-cells",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app, tracker) => {
    const LOCKED = "This cell is the course's and stays as it is. Write in the cell above it, or add one of your own with B (Esc first).";
    const KEPT = "This cell cannot be deleted: grading needs it. To empty it, edit it instead.";
    const shown = new Map(); // by what it is about: the line that is in sight

    const say = (key, message, ...more) => {
      unsay(key);
      shown.set(key, tell(app, message, "warning", ...more));
    };
    const unsay = (key) => {
      const line = shown.get(key);
      shown.delete(key);
      line?.then((id) => app.commands.execute("apputils:dismiss-notification", { id }));
    };

    const isWriting = ({ type, key, ctrlKey, metaKey, altKey, shiftKey }) => {
      if (type !== "keydown") return true;
      if (ctrlKey || metaKey || altKey) return false;
      return key.length === 1 || ["Backspace", "Delete", "Tab"].includes(key) || (key === "Enter" && !shiftKey);
    };

    const isKept = (cell) => cell?.model.getMetadata("deletable") === false;

    const watchKeys = (panel) => {
      let before = ""; // the key before, by which D, D is known: JupyterLab runs no command for it
      const refuse = (event) => {
        const { activeCell, mode } = panel.content;
        if (event.type === "keydown") {
          if (mode === "command" && before === "d" && event.key === "d" && isKept(activeCell)) say("kept", KEPT);
          before = event.key;
        }
        const isHere = activeCell?.editorWidget?.node.contains(event.target);
        if (isHere && activeCell.model.getMetadata("editable") === false && isWriting(event)) {
          say("locked", LOCKED);
        }
      };
      ["keydown", "beforeinput", "paste", "cut"].forEach((name) =>
        panel.content.node.addEventListener(name, refuse, true),
      );
    };

    const nameOf = (cell) => about({ model: cell }).grade_id;

    const watchTypes = (panel) => {
      const look = (cell) => {
        const name = nameOf(cell);
        if (!name || about({ model: cell }).cell_type !== "code") return;
        const key = `${panel.context.path} ${name}`;
        if (cell.type === "code") return unsay(key);
        const what = name.startsWith("test_") ? `The check ${name}` : `Your answer ${name}`;
        say(key, `${what} is text now, and grading reads only code. To undo it: click on it, press Esc, then Y.`, false);
      };
      const { cells } = panel.content.model;
      [...cells].forEach(look);
      cells.changed.connect((_, change) => {
        change.newValues.forEach(look);
        if (change.type === "remove") {
          removed = true;
          queueMicrotask(() => (removed = false));
        }
      });
    };

    let removed = false; // whether the command that has just been run took a cell away
    app.commands.commandExecuted.connect((_, { id }) => {
      if (id !== "notebook:cut-cell" || removed) return;
      if (isKept(tracker.currentWidget?.content.activeCell)) say("kept", KEPT);
    });

    tracker.widgetAdded.connect(async (_, panel) => {
      await panel.context.ready;
      watchKeys(panel);
      watchTypes(panel);
    });
  },
});
