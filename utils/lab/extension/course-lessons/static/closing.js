// Only the tab that ran a cell shows its output: whoever closes it meanwhile is told, and asked. So is
// whoever opens a notebook again while such a cell still runs.
import { panels, tell } from "./lesson.js";

export default ({ apputils: { Dialog, showDialog }, messaging: { MessageLoop }, notebook: { INotebookTracker } }) => ({
  id: "course-lessons:closing",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app, tracker) => {
    const BODY =
      "Its output appears in this tab only: if you close it, the output is lost, though the cell " +
      "runs on. Wait until [*] has become a number, or stop the cell first: Kernel, Interrupt Kernel.";
    const BUSY =
      "A cell runs that was started before this tab was opened. Its output is lost: run it again once this is done.";
    const agreed = new WeakSet();

    const isRunning = ({ content }) =>
      content.widgets.some(({ model }) => model.type === "code" && model.executionState === "running");

    const ask = async (panel) => {
      const stay = Dialog.cancelButton({ label: "Stay" });
      const close = Dialog.warnButton({ label: "Close and lose the output" });
      const { button } = await showDialog({
        title: "A cell is still running",
        body: BODY,
        buttons: [stay, close],
        defaultButton: 0,
      });
      if (!button.accept) return;
      agreed.add(panel);
      panel.close();
    };

    const watchClosing = (panel) =>
      MessageLoop.installMessageHook(panel, (_, { type }) => {
        if (type !== "close-request" || agreed.has(panel) || !isRunning(panel)) return true;
        ask(panel).catch(console.warn);
        return false;
      });

    const { sessions } = app.serviceManager;
    const sessionOf = ({ context }) => [...sessions.running()].find(({ path }) => path === context.path);

    const isBusy = async (panel) => {
      await new Promise((go) => setTimeout(go, 1000)); // to connect makes a kernel busy for a moment
      await sessions.refreshRunning();
      return sessionOf(panel)?.kernel?.execution_state === "busy" && !isRunning(panel);
    };

    const lookForOthers = async (panel) => {
      if (!sessionOf(panel)) return; // its kernel starts just now
      await panel.context.ready;
      if ((await isBusy(panel)) && (await isBusy(panel))) tell(app, BUSY, "warning", false);
    };

    tracker.widgetAdded.connect((_, panel) => {
      watchClosing(panel);
      lookForOthers(panel).catch(console.warn);
    });
    window.addEventListener("beforeunload", (event) => {
      if (panels(app).some(isRunning)) event.preventDefault();
    });
  },
});
