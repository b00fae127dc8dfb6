// The button that saves what the browser keeps: every file that differs from the site's, as a zip.

const TABLE = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

/** The checksum that a zip wants. */
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ TABLE[(sum ^ byte) & 255];
  return (sum ^ 0xffffffff) >>> 0;
}

/** Numbers of two or four bytes, the smallest byte first: pairs of a value and its width. */
function packed(...pairs) {
  const bytes = [];
  for (const [value, width] of pairs) {
    for (let k = 0; k < width; k++) bytes.push((value >>> (8 * k)) & 255);
  }
  return new Uint8Array(bytes);
}

/** A zip of files, `[[name, bytes], …]`, not compressed; names are UTF-8. */
export function zipped(files) {
  const parts = [];
  const index = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const told = new TextEncoder().encode(name);
    const sizes = [[checksum(bytes), 4], [bytes.length, 4], [bytes.length, 4], [told.length, 2], [0, 2]];
    const common = [[20, 2], [0x0800, 2], [0, 2], [0, 2], [0x21, 2], ...sizes];
    const head = [packed([0x04034b50, 4], ...common), told];
    index.push(packed([0x02014b50, 4], [20, 2], ...common, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]), told);
    parts.push(...head, bytes);
    at += head[0].length + told.length + bytes.length;
  }
  const length = index.reduce((sum, part) => sum + part.length, 0);
  const count = files.length;
  parts.push(...index, packed([0x06054b50, 4], [0, 4], [count, 2], [count, 2], [length, 4], [at, 4], [0, 2]));
  return new Blob(parts, { type: "application/zip" });
}

/** What one of JupyterLite's records holds, as bytes. */
export function bytesOf({ type, format, content }) {
  if (format === "base64") return Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const text = type === "notebook" || format === "json" ? JSON.stringify(content, null, 1) : content;
  return new TextEncoder().encode(text ?? "");
}

/** All records of JupyterLite's storage for this site. */
async function kept() {
  const found = (await indexedDB.databases()).filter(({ name }) => name.startsWith("JupyterLite Storage"));
  const all = await Promise.all(found.map(({ name }) => records(name)));
  return all.flat().filter(({ type }) => type !== "directory");
}

function records(name) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const base = opening.result;
      if (!base.objectStoreNames.contains("files")) return resolve([]);
      const asked = base.transaction("files").objectStore("files").getAll();
      asked.onerror = () => reject(asked.error);
      asked.onsuccess = () => resolve(asked.result);
    };
  });
}

const button = globalThis.document?.getElementById("keep");
button?.addEventListener("click", async () => {
  const files = (await kept()).map((record) => [record.path, bytesOf(record)]);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(zipped(files));
  link.download = "minigrad.zip";
  link.click();
});
