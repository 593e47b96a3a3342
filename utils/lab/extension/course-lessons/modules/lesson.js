// What the other modules ask of JupyterLab's notebooks.

/** The notebooks that are open: JupyterLab's panels. */
export const panels = (app) =>
  [...app.shell.widgets("main")].filter((widget) => widget.content?.widgets && widget.sessionContext);

/** What nbgrader notes about a cell; {} for a cell that is neither an answer nor a check. */
export const about = (cell) => cell.model.getMetadata("nbgrader") ?? {};

export const isCheck = (cell) => about(cell).grade === true;

/** Whether a notebook is a lesson. */
export const isLesson = (notebook) => notebook.widgets.some(isCheck);

/** The cells of an open notebook: JupyterLab's models. */
export const models = ({ content }) => content.widgets.map(({ model }) => model);

/** Whether a cell runs, or waits for its turn. */
export const isRunning = ({ type, executionState }) => type === "code" && executionState === "running";

/** Tell something in JupyterLab's corner; gives what `dismiss` needs. */
export const tell = (app, message, type = "info", autoClose = 8000, actions = []) =>
  app.commands.execute("apputils:notify", { message, type, options: { autoClose, actions } });
