import "./tokens.css";
import "./base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "~/api/client";
import { followLink } from "./link";
import { router } from "./routes";
import { installWorker } from "./shell/device";
import { startPage } from "./shell/look";

await followLink();
const start = startPage();
if (start) router.history.replace(start);
createRoot(document.getElementById("app")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);

addEventListener("load", () => void installWorker());
