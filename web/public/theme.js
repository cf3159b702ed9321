// Before the first paint: the chosen theme and density, which would flash otherwise.
try {
  const root = document.documentElement;
  const { theme, density, rail } = JSON.parse(localStorage.getItem("forebay.look") ?? "{}");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (density) root.dataset.density = density;
  if (rail) root.dataset.rail = rail;
} catch {
  // Without storage, or with something else in it, the browser's theme is used.
}
