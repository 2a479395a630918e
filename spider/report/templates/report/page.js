// ---- light and dark -----------------------------------------------------

const themes = ["", "light", "dark"];
let theme = 0;
$("theme").addEventListener("click", () => {
  theme = (theme + 1) % themes.length;
  document.documentElement.dataset.theme = themes[theme];
  $("theme").textContent = `Theme: ${themes[theme] || "as the system"}`;
});

setUp();
read();
show();
plant();
draw();
requestIdleCallback?.(haystack); // so that the first key of a search need not wait for it
