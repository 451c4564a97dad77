"use strict";
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
const ask = async (address) => {
  const answer = await fetch(address, { headers: { Authorization: `Bearer ${token}` } });
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error);
  return json;
};
const show = async () => {
  const { runs } = await ask("api/runs");
  for (const run of runs) {
    const item = document.createElement("li");
    item.textContent = `${run.name}: ${run.state}`;
    document.getElementById("runs").append(item);
  }
  if (runs.length === 0) throw new Error("There is no run.");
  const { reports } = await ask(`api/runs/${runs[0].run}/report`);
  document.getElementById("headline").textContent = reports[0].tables[0].rows.map((row) => row.join(" ")).join("\n");
};
show().catch((error) => { document.getElementById("headline").textContent = error.message; });
