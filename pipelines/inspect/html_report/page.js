"use strict";
const charts = JSON.parse(document.getElementById("charts").textContent);
const choose = document.getElementById("choose");
const isDark = matchMedia("(prefers-color-scheme: dark)");

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function config() {
  const [ink, soft, line] = ["ink", "soft", "line"].map(colour);
  const font = getComputedStyle(document.body).fontFamily;
  const category = isDark.matches
    ? ["#77a8ff", "#f2a65a", "#63c7a6", "#e58bb4", "#c79bf2", "#d8cf6b", "#7fd0e8", "#f07f6e", "#a3a7b1"]
    : ["#2563c9", "#d97a1e", "#2a9270", "#c2457e", "#8a4fbf", "#94861a", "#2690ad", "#c8452f", "#6f737c"];
  return {
    background: "transparent", font, view: { stroke: null }, range: { category },
    axis: {
      labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line,
      labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelPadding: 5, titlePadding: 8,
    },
    legend: { labelColor: ink, labelFontSize: 12, symbolType: "circle", offset: 10 },
    text: { fontSize: 13 },
  };
}

async function draw(page) {
  for (const place of page.querySelectorAll(".chart")) {
    await vegaEmbed(place, charts[place.dataset.chart], {
      mode: "vega-lite", renderer: "svg", config: config(), actions: false,
      ast: true, // the policy of the page forbids eval
      tooltip: { theme: isDark.matches ? "dark" : "light" },
    });
  }
  page.dataset.drawn = "yes";
}

async function show() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  const target = anchor && document.getElementById(anchor);
  const page = (target && target.closest(".page")) || document.querySelector(".page");
  for (const one of document.querySelectorAll(".page")) one.hidden = one !== page;
  choose.value = page.id;
  if (!page.dataset.drawn) await draw(page);
  if (target === page) scrollTo(0, 0);
  else if (target) target.scrollIntoView();
}

for (const search of document.querySelectorAll(".search")) {
  const rows = [...search.parentElement.querySelectorAll(".rejected tbody tr")];
  const [input, count] = search.children;
  const find = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let found = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      found += !row.hidden;
    }
    count.textContent = found ? `${found} of ${rows.length}` : `none of ${rows.length}`;
  };
  input.addEventListener("input", find);
  find();
}

choose.addEventListener("change", () => { location.hash = choose.value; });
addEventListener("hashchange", show);
isDark.addEventListener("change", () => {
  for (const one of document.querySelectorAll(".page")) delete one.dataset.drawn;
  show();
});
show();
