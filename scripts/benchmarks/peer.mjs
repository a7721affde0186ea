// @huggingface/hub's own reading of headers: node peer.mjs FOLDER ENDPOINT REPO, installed in FOLDER.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [home, endpoint, repo] = process.argv.slice(2);
const found = createRequire(home + "/").resolve("@huggingface/hub");
const { parseSafetensorsMetadata } = await import(pathToFileURL(found));

// The loopback Hub has no /raw/ route, by which the library asks whether a file exists: the same question by /resolve/.
async function asked(url, options) {
  if (options?.method !== "HEAD") return fetch(url, options);
  const answer = await fetch(String(url).replace("/raw/", "/resolve/"), { ...options, redirect: "manual" });
  return answer.status < 400 ? new Response(null, { status: 200 }) : answer;
}

const { sharded, headers, header } = await parseSafetensorsMetadata({ repo, hubUrl: endpoint, fetch: asked });
const totals = {};
for (const table of sharded ? Object.values(headers) : [header])
  for (const [name, entry] of Object.entries(table))
    if (name !== "__metadata__")
      totals[entry.dtype] = (totals[entry.dtype] ?? 0) + entry.data_offsets[1] - entry.data_offsets[0];
console.log(JSON.stringify(totals));
