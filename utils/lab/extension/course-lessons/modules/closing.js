// Only the tab that ran a cell shows its output: whoever closes it meanwhile is told, and asked.
import { isRunning, models, panels } from "./lesson.js";
import { lose } from "./lost_outputs.js";

export default ({ apputils: { Dialog, showDialog }, messaging: { MessageLoop }, notebook: { INotebookTracker } }) => ({
  id: "course-lessons:closing",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app, tracker) => {
    const BODY =
      "Its output appears in this tab only: if you close it, the output is lost, though the cell " +
      "runs on. Wait until [*] has become a number, or stop the cell first: Kernel, Interrupt Kernel.";
    const agreed = new WeakSet();

    const runs = (panel) => models(panel).some(isRunning);

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
      const [{ path }, closed] = [panel.context, models(panel)];
      panel.disposed.connect(() => lose(app, path, closed));
      panel.close();
    };

    const watchClosing = (panel) =>
      MessageLoop.installMessageHook(panel, (_, { type }) => {
        if (type !== "close-request" || agreed.delete(panel) || !runs(panel)) return true;
        ask(panel).catch(console.warn);
        return false;
      });

    tracker.widgetAdded.connect((_, panel) => watchClosing(panel));
    window.addEventListener("beforeunload", (event) => {
      if (panels(app).some(runs)) event.preventDefault();
    });
  },
});
