(function () {
  "use strict";
  function value(row, at) {
    var cell = row.cells[at], data = cell.querySelector("data");
    var text = data ? data.value : cell.textContent.trim();
    return text !== "" && !isNaN(text) ? Number(text) : data ? -Infinity : text;
  }
  function compare(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? 1 : -1;
  }
  function sortable(table) {
    var heads = table.tHead.rows[0].cells, body = table.tBodies[0];
    Array.prototype.forEach.call(heads, function (head, at) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent.trim();
      head.textContent = "";
      head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") !== "descending";
        Array.prototype.forEach.call(heads, function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        Array.prototype.slice.call(body.rows).sort(function (a, b) {
          var order = compare(value(a, at), value(b, at));
          return down ? -order : order;
        }).forEach(function (row) { body.appendChild(row); });
      });
    });
  }
  function shown(table, tests) {
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      row.hidden = !tests.every(function (test) { return test(row); });
    });
  }
  function filtered(table) {
    var tests = [], holder = table.closest(".scroll");
    function labelled(words, field) {
      var label = document.createElement("label");
      label.className = "filter";
      label.append(words, field);
      holder.parentNode.insertBefore(label, holder);
    }
    var input = document.createElement("input");
    input.type = "search";
    tests.push(function (row) { return row.textContent.toLowerCase().indexOf(input.value.toLowerCase()) >= 0; });
    input.addEventListener("input", function () { shown(table, tests); });
    labelled("Only rows with", input);
    if (table.dataset.choose) {
      var at = Number(table.dataset.choose), select = document.createElement("select"), seen = {};
      select.append(new Option("all", ""));
      Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
        var word = row.cells[at].textContent.trim();
        if (!Object.prototype.hasOwnProperty.call(seen, word)) { seen[word] = true; select.append(new Option(word, word)); }
      });
      tests.push(function (row) { return !select.value || row.cells[at].textContent.trim() === select.value; });
      select.addEventListener("change", function () { shown(table, tests); });
      labelled("Only verdict", select);
    }
  }
  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll("table.filterable").forEach(filtered);
})();
