// A kernel that has just started knows no set-up cell, no `Tensor` and no answer. Whoever goes to an
// exercise, or runs a cell, gets first what stands above it and counts: what grading runs, without
// the checks. Demonstrations stay as they are: they would answer guesses that nobody has made.
import { isCheck, isLesson, panels, tell } from "./lesson.js";

export default ({ cells: { CodeCell }, notebook: { INotebookCellExecutor, runCell } }) => ({
  id: "course-lessons:fresh-kernel",
  autoStart: true,
  provides: INotebookCellExecutor,
  activate: (app) => {
    const ready = new WeakMap(); // by session: a promise that what stands above was sent

    const isFresh = async (kernel) => {
      if (kernel.status === "busy") return false;
      const asked = kernel.requestExecute({ code: "", silent: true, store_history: false });
      return (await asked.done).content.execution_count === 0;
    };

    const counts = (cell) =>
      cell.model.type === "code" &&
      !isCheck(cell) &&
      !(cell.model.getMetadata("tags") ?? []).includes("skip-grading");

    const runAbove = async (notebook, session, cell) => {
      await session.ready;
      const kernel = session.session?.kernel;
      if (!kernel || !isLesson(notebook) || !(await isFresh(kernel))) return;
      const above = notebook.widgets.slice(0, notebook.widgets.indexOf(cell)).filter(counts);
      // All at once, so that nothing gets in between; an error of one drops none of the others.
      above.forEach((each) => {
        const tags = [...(each.model.getMetadata("tags") ?? []), "raises-exception"];
        CodeCell.execute(each, session, { tags }).catch(() => {});
      });
      const what = above.length === 1 ? "The cell" : `The ${above.length} cells`;
      if (above.length) tell(app, `${what} above that this one builds on ran first: the kernel was new.`);
    };

    const prepare = (notebook, session, cell) => {
      if (!ready.has(session)) {
        const forget = () => ready.set(session, null);
        session.kernelChanged.connect(forget);
        session.statusChanged.connect((_, status) => {
          if (status === "restarting" || status === "autorestarting") forget();
        });
      }
      if (!ready.get(session)) ready.set(session, runAbove(notebook, session, cell));
      return ready.get(session);
    };

    const arrive = async (path, id) => {
      const panel = panels(app).find((each) => each.context.path === path);
      if (!panel) return;
      await panel.context.ready;
      const cell = panel.content.widgets.find((each) => each.model.id === id);
      if (!cell) return;
      await prepare(panel.content, panel.sessionContext, cell);
      await show(panel.content, cell);
      setTimeout(() => show(panel.content, cell), 1500); // results above have taken their height
    };

    // JupyterLab scrolls there only, and too early in a tab that was open before it was started.
    const show = async (notebook, cell) => {
      if (notebook.mode === "edit") return; // somebody writes already
      notebook.activeCellIndex = notebook.widgets.indexOf(cell);
      await notebook.scrollToCell(cell, "center");
    };

    app.commands.commandExecuted.connect((_, { id, args, result }) => {
      if (id !== "rendermime:handle-local-link" || !args.id?.startsWith("#cell-id=")) return;
      const cell = decodeURIComponent(args.id.slice("#cell-id=".length));
      result.then(() => arrive(args.path, cell)).catch(console.warn);
    });

    return {
      runCell: async (options) => {
        const { cell, sessionContext } = options;
        if (cell.model.type === "code" && sessionContext) {
          await prepare(cell.parent, sessionContext, cell).catch(console.warn);
        }
        return runCell(options);
      },
    };
  },
});
