import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import css from "./drop.module.css";
import { handOver } from "./handover";
import { placeOf } from "./intent";
import { toast } from "./toasts";

/** A file that is dropped anywhere goes to the page that it belongs to. Pages with a drop zone stop the event first. */
export function DropAnywhere() {
  const navigate = useNavigate();
  const [over, setOver] = useState(false);
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      const place = files[0] && placeOf(files[0].name);
      if (!place) {
        toast("That kind of file has no place here: drop a spreadsheet, a ZIP of pictures, or a bookmarks file.");
        return;
      }
      handOver(files);
      void navigate({ to: place });
    };
    document.addEventListener("dragover", enter);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, [navigate]);
  return over ? (
    <div className={css.over} aria-hidden="true">
      Drop it: spreadsheets become sheets, bookmark files are imported
    </div>
  ) : null;
}
