import { useNavigate } from "@tanstack/react-router";
import { Menu } from "~/ui/menu";

/** Where rows come from, and where they are looked up. */
export function Places() {
  const navigate = useNavigate();
  return (
    <Menu
      align="end"
      button={{ children: "Set-up" }}
      items={[
        { label: "Catalogues", onSelect: () => void navigate({ to: "/sheets/catalogues" }) },
        { label: "Providers", onSelect: () => void navigate({ to: "/sheets/providers" }) },
        { label: "Sources", onSelect: () => void navigate({ to: "/sheets/sources" }) },
      ]}
    />
  );
}
