import { Places } from "~/shell/places";

/** Links between the pages of attachments. */
export function AttachmentPlaces() {
  return (
    <Places
      label="Attachments"
      places={[
        { to: "/attachments", title: "Instances", isExact: true },
        { to: "/attachments/deliveries", title: "Deliveries" },
        { to: "/attachments/status", title: "Status" },
      ]}
    />
  );
}
