import { lazy, Suspense } from "react";
import { useOpenItem } from "./open-item";

const ItemBeside = lazy(() => import("./item-beside"));

/** The open item beside its list. */
export function OpenItem() {
  const { place, show } = useOpenItem();
  return (
    place && (
      <Suspense>
        <ItemBeside place={place} onClose={() => show(undefined)} />
      </Suspense>
    )
  );
}
