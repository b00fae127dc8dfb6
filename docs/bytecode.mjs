// node bytecode.mjs PYODIDE ZIP...: put bytecode beside modules in wheels and in the standard library,
// so that a browser need not compile them at each start. Standard input names the modules; of a
// package that it doesn't know, all are taken. The Python that compiles is the one that will run
// them; any other ignores what it finds there, and compiles.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const COMPILE = `
import io, warnings, zipfile
from importlib import util
from importlib._bootstrap_external import _code_to_hash_pyc

warnings.simplefilter("ignore")  # of theirs; ours have none

def with_bytecode(data, wanted, library):
    """Return a zip with its modules compiled: the library is imported out of the zip itself."""
    wanted = set(wanted.split())
    known = {name.partition(".")[0] for name in wanted}
    given, made = zipfile.ZipFile(io.BytesIO(data.to_bytes())), io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for name in given.namelist():
            text = given.read(name)
            out.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
            module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            new = module.partition(".")[0] not in known and (not library or "pyodide" in module)
            if not name.endswith(".py") or not (new or module in wanted):
                continue
            code = compile(text, name, "exec", dont_inherit=True)
            beside = name + "c" if library else util.cache_from_source(name)
            kept = _code_to_hash_pyc(code, util.source_hash(text), checked=False)
            out.writestr(zipfile.ZipInfo(beside), kept, zipfile.ZIP_DEFLATED)
    return made.getvalue()

with_bytecode
`;

const [folder, ...files] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(resolve(folder, "pyodide.mjs")));
const pyodide = await loadPyodide();
const wanted = readFileSync(0, "utf-8");
const compile = pyodide.runPython(COMPILE);
for (const file of files) {
  const data = new Uint8Array(readFileSync(file));
  writeFileSync(file, compile(data, wanted, file.endsWith("python_stdlib.zip")).toJs());
}
