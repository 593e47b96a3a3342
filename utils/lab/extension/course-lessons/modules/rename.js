// The course refuses to rename a lesson (utils/lab/contents.py); JupyterLab's menu keeps silent on it.
import { tell } from "./lesson.js";

export default () => ({
  id: "course-lessons:rename",
  autoStart: true,
  activate: (app) => {
    const { contents } = app.serviceManager;
    const rename = contents.rename.bind(contents);
    contents.rename = (...paths) =>
      rename(...paths).catch((error) => {
        if (error.response?.status === 403) tell(app, error.message, "error", false);
        throw error;
      });
  },
});
