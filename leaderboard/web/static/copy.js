// A button beside a command copies it; where a page may not write to the clipboard, such as without TLS, it marks it.
"use strict";
(() => {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = document.getElementById(button.dataset.copy);
    const said = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      getSelection().selectAllChildren(source);
      let copied = false;
      try {
        await navigator.clipboard.writeText(source.textContent);
        copied = true;
      } catch { copied = document.execCommand("copy"); } // no clipboard on this page, or not allowed
      button.textContent = copied ? "Copied" : "Selected: copy it now";
      setTimeout(() => { button.textContent = said; }, 3000);
    });
  }
})();
