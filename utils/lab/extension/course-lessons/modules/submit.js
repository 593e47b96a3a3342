// nbgrader's Submit sends the file, whatever the tab shows. Here the lesson is saved first, and what
// was handed in is told when it has arrived.
import { panels, tell } from "./lesson.js";

export default ({ services: { ServerConnection } }) => ({
  id: "course-lessons:submit",
  autoStart: true,
  activate: (app) => {
    const BUTTONS = "#fetched_assignments_list .item_status button";
    let saved = null; // the button whose lesson was saved just now

    const lessonOf = (button) => button.closest(".list_item").querySelector(".item_name").innerText.trim();

    const save = async (lesson) => {
      const open = panels(app).filter((panel) => panel.context.path.startsWith(`${lesson}/`));
      for (const { context } of open.filter((panel) => panel.context.model.dirty)) {
        await context.save();
        if (context.model.dirty) throw new Error(`${context.path} could not be saved`);
      }
    };

    /** Wait until nbgrader has renewed its list, or has offered the button again. */
    const arrived = async (button) => {
      while (button.isConnected && button.disabled) await new Promise((go) => setTimeout(go, 100));
      return !button.isConnected;
    };

    const tellWhatPasses = async (lesson) => {
      const settings = ServerConnection.makeSettings();
      const address = `${settings.baseUrl}course/handed-in?lesson=${encodeURIComponent(lesson)}`;
      const answer = await ServerConnection.makeRequest(address, {}, settings);
      if (answer.ok) tell(app, (await answer.json()).said, "success", false);
    };

    const submit = async (button) => {
      const lesson = lessonOf(button);
      try {
        await save(lesson);
      } catch (error) {
        tell(app, `Nothing was handed in: ${error.message}. Save the notebook, then submit again.`, "error", false);
        return;
      }
      saved = button;
      button.click();
      saved = null;
      if (await arrived(button)) await tellWhatPasses(lesson);
    };

    document.addEventListener(
      "click",
      (event) => {
        const button = event.target.closest?.(BUTTONS);
        if (!button || button === saved || button.disabled) return;
        event.stopImmediatePropagation();
        submit(button).catch(console.warn);
      },
      true,
    );
  },
});
