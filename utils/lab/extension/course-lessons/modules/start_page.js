// The start page's one button and its bars, and the facts below a lesson's title as chips.
export default () => ({
  id: "course-lessons:start-page",
  autoStart: true,
  activate: () => {
    const style = document.createElement("style");
    style.textContent = `
      .jp-RenderedMarkdown a.course-button {
        display: inline-block; margin-right: 0.6em; padding: 0.5em 1.2em; border-radius: 6px;
        background: var(--jp-brand-color1); color: var(--jp-ui-inverse-font-color1); font-weight: 600; text-decoration: none;
      }
      .jp-RenderedMarkdown a.course-button:focus-visible { outline: 3px solid var(--jp-warn-color1); }
      .jp-RenderedMarkdown progress { width: 7em; height: 0.9em; accent-color: var(--jp-success-color1); }
      .jp-RenderedMarkdown img.course-encoder { display: block; margin-bottom: 1em; }
      .jp-RenderedMarkdown .course-chip {
        display: inline-block; margin: 0 0.4em 0.3em 0; padding: 0.15em 0.8em;
        border: 1px solid var(--jp-border-color1); border-radius: 1em;
      }`;
    document.head.append(style);
  },
});
