"use strict";
const choose = document.getElementById("choose");

function show() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  const target = anchor && document.getElementById(anchor);
  const page = (target && target.closest(".page")) || document.querySelector(".page");
  for (const one of document.querySelectorAll(".page")) one.hidden = one !== page;
  choose.value = page.id;
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
show();
