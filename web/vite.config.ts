import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const TEXTS = new Set([".js", ".css", ".html", ".svg", ".webmanifest"]);
const API = process.env.API_URL ?? "http://127.0.0.1:8080";

/** Write NAME.br and NAME.gz beside each text: the API sends them as they are. */
function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    closeBundle() {
      const folder = resolve(import.meta.dirname, "dist");
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        const path = join(folder, name);
        if (!TEXTS.has(extname(name)) || statSync(path).size < 512) continue;
        const data = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(data, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), compress()],
  resolve: { alias: { "~": resolve(import.meta.dirname, "src") } },
  build: {
    outDir: "dist",
    manifest: true,
    assetsInlineLimit: 0, // the policy allows no data: scripts or styles
    target: ["chrome125", "firefox147", "safari26"],
    // Otherwise light-dark() and nesting are rewritten for older browsers.
    cssTarget: ["chrome125", "firefox147", "safari26"],
  },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"] },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ["/api", "/files", "/sign-in", "/bookmarks/add"].map((path) => [path, { target: API, changeOrigin: false }]),
    ),
  },
});
