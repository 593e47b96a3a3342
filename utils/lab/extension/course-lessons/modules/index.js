// Loads the modules of this folder. Each gives one plugin for JupyterLab, whose own modules it gets.
// The folder is not named "static": JupyterLab has browsers keep such a one for a year, unasked.
(() => {
  const NEEDED = ["jupyterlab/apputils", "jupyterlab/cells", "jupyterlab/notebook", "jupyterlab/services", "lumino/messaging"];
  const PLUGINS = ["closing", "fresh_kernel", "guarded_cells", "lost_outputs", "rename", "results", "start_page", "submit"];
  const folder = new URL(".", document.currentScript.src);
  let shared;
  const jupyterlab = async (name) => {
    const [version] = Object.values(shared[`@${name}`]);
    return [name.split("/")[1], (await version.get())()];
  };
  const get = async () => {
    const lab = Object.fromEntries(await Promise.all(NEEDED.map(jupyterlab)));
    const found = await Promise.all(PLUGINS.map((name) => import(new URL(`${name}.js`, folder))));
    return () => found.map((module) => module.default(lab));
  };
  const init = (scope) => {
    shared = scope;
  };
  const modules = (window._JUPYTERLAB = window._JUPYTERLAB || {});
  modules["course-lessons"] = { init, get };
})();
