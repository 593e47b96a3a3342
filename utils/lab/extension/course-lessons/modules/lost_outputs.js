// Only the tab that ran a cell gets its output. Whoever closes or reloads it meanwhile finds a note
// below that cell when the lesson is opened again, until the cell is run once more.
import { isRunning, models, panels, tell } from "./lesson.js";

/** What this browser knows of a notebook: the ids of the cells whose output was lost. */
const known = (app, path) => {
  const key = `course-lessons:lost-outputs ${new URL(path, app.serviceManager.serverSettings.baseUrl)}`;
  return {
    read: () => JSON.parse(localStorage.getItem(key) ?? "[]"),
    keep: (ids) => (ids.length ? localStorage.setItem(key, JSON.stringify(ids)) : localStorage.removeItem(key)),
  };
};

/** Note that the tab of some cells closes; those that run lose their output. */
export const lose = (app, path, models) => {
  const { read, keep } = known(app, path);
  keep([...new Set([...read(), ...models.filter(isRunning).map(({ id }) => id)])]);
};

export default ({ notebook: { INotebookTracker } }) => ({
  id: "course-lessons:lost-outputs",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app, tracker) => {
    const LOST = "This cell was running when its tab was closed or reloaded: what it showed after that is lost.";
    const RUNS = "It still runs. Wait for its end, or stop it (Kernel, Interrupt Kernel); then run it again to see its output.";
    const ENDED = "Run it again to bring its output back.";
    const CLASS = "course-lost-output";

    const style = document.createElement("style");
    style.textContent = `
      .${CLASS} { max-width: 46em; padding: 8px 14px; border: 1px solid var(--jp-border-color2);
        border-left: 6px solid var(--jp-warn-color1); border-radius: 6px; line-height: 1.5; }`;
    document.head.append(style);

    const isNote = ({ data }) => String(data?.["text/html"] ?? "").includes(CLASS);
    const write = ({ model: { outputs } }, says) => {
      const data = { "text/html": `<div class="${CLASS}" role="note">${says}</div>`, "text/plain": says };
      const note = { output_type: "display_data", data, metadata: {} };
      outputs.fromJSON([note, ...outputs.toJSON().filter((output) => !isNote(output))]);
    };

    const tellOf = async ({ content, context, sessionContext }) => {
      await context.ready;
      const { read, keep } = known(app, context.path);
      const cells = content.widgets.filter(({ model }) => model.type === "code" && read().includes(model.id));
      keep(cells.map(({ model }) => model.id));
      if (!cells.length) return;
      await sessionContext.ready;
      const isIdle = () => ["idle", "dead"].includes(sessionContext.session?.kernel?.status ?? "dead");
      const isLost = ({ model }) => read().includes(model.id);
      const note = () => cells.filter(isLost).forEach((cell) => write(cell, `${LOST} ${isIdle() ? ENDED : RUNS}`));
      note();
      const ended = () => isIdle() && note();
      if (!isIdle()) sessionContext.statusChanged.connect(ended);
      cells.forEach(({ model }) =>
        model.stateChanged.connect((_, { name }) => {
          if (name === "executionState" && isRunning(model)) keep(read().filter((id) => id !== model.id));
        }),
      );
      const what = cells.length === 1 ? "The output of a cell is" : `The outputs of ${cells.length} cells are`;
      const link = { path: context.path, id: `#cell-id=${encodeURIComponent(cells[0].model.id)}` };
      const show = { label: "Show", commandId: "rendermime:handle-local-link", args: link };
      tell(app, `${what} lost, because the tab was closed or reloaded meanwhile.`, "warning", false, [show]);
    };

    tracker.widgetAdded.connect((_, panel) => tellOf(panel).catch(console.warn));
    window.addEventListener("pagehide", () =>
      panels(app).forEach((panel) => lose(app, panel.context.path, models(panel))),
    );
  },
});
