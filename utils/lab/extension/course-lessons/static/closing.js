// Only the tab that ran a cell shows its output: whoever closes it meanwhile is told, and asked.
import { panels } from "./lesson.js";

export default ({ apputils: { Dialog, showDialog }, messaging: { MessageLoop }, notebook: { INotebookTracker } }) => ({
  id: "course-lessons:closing",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app, tracker) => {
    const BODY =
      "Its output appears in this tab only: if you close it, the output is lost, though the cell " +
      "runs on. Wait until [*] has become a number, or stop the cell first: Kernel, Interrupt Kernel.";
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

    tracker.widgetAdded.connect((_, panel) => watchClosing(panel));
    window.addEventListener("beforeunload", (event) => {
      if (panels(app).some(isRunning)) event.preventDefault();
    });
  },
});
