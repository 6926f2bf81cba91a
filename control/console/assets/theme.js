// The theme that the user has chosen in this browser. It is set before the page is drawn, so this is no module.
{
  const chosen = localStorage.getItem("locus-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
