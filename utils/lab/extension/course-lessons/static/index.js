// Loads the modules of this folder. Each gives one plugin for JupyterLab, whose own modules it gets.
(() => {
  const NEEDED = ["apputils", "cells", "notebook", "services"];
  const PLUGINS = ["fresh_kernel", "results"];
  const folder = new URL(".", document.currentScript.src);
  let shared;
  const jupyterlab = async (name) => {
    const [version] = Object.values(shared[`@jupyterlab/${name}`]);
    return [name, (await version.get())()];
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
