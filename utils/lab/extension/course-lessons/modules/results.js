// A result shows up below a cell, and the next one has the cursor already: what has come is brought
// into view, as little moved as it takes; of a tall result, its beginning.
export default ({ notebook: { NotebookActions } }) => ({
  id: "course-lessons:results",
  autoStart: true,
  activate: () => {
    const MARGIN = 12; // pixels
    const LATER = 1000; // milliseconds: what a result shows may take its height late
    const MOVES = ["wheel", "touchmove", "pointerdown"]; // whoever moves the page is let alone
    let stop = () => {};

    const follow = (notebook, cell) => {
      stop();
      const area = cell.outputArea?.node;
      const scroller = notebook.node.querySelector(".jp-WindowedPanel-outer") ?? notebook.node;
      const isNear = () => {
        const at = notebook.widgets.indexOf(cell);
        return at >= 0 && [at, at + 1].includes(notebook.activeCellIndex);
      };
      if (!area || !isNear()) return;

      const show = () => {
        if (!isNear()) return stop();
        const [result, view] = [area, scroller].map((node) => node.getBoundingClientRect());
        const above = result.top - MARGIN - view.top;
        const below = result.bottom + MARGIN - view.bottom;
        if (result.height && (above < 0 || below > 0)) {
          scroller.scrollTop += below > 0 ? Math.min(above, below) : above;
        }
      };
      const observer = new ResizeObserver(show);
      const done = (_, ran) => {
        if (ran.cell === cell) setTimeout(end, LATER);
      };
      const end = () => {
        observer.disconnect();
        NotebookActions.executed.disconnect(done);
        MOVES.forEach((name) => notebook.node.removeEventListener(name, end, true));
      };
      stop = end;
      MOVES.forEach((name) => notebook.node.addEventListener(name, end, true));
      NotebookActions.executed.connect(done);
      observer.observe(area);
    };

    NotebookActions.executionScheduled.connect((_, { notebook, cell }) => follow(notebook, cell));
  },
});
