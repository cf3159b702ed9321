import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { changeOwner, type Owner } from "~/api/admin";
import { ProblemError } from "~/api/problem";
import { short } from "~/format";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field } from "~/ui/field";
import { Notice } from "~/ui/notice";
import { sentence } from "~/words";
import css from "./admin.module.css";
import { LIMITS, type LimitName, limitChanges, limitTexts } from "./owner-limits";

/** What an owner may have at most; an empty field is the limit of the settings. */
export function LimitsDialog({ owner, onClose }: { owner: Owner; onClose: () => void }) {
  const [texts, setTexts] = useState(() => limitTexts(owner));
  const changes = limitChanges(owner, texts);
  const save = useMutation({
    mutationFn: () => changeOwner(owner.name, changes),
    onSuccess: () => {
      toast(`The limits of ${owner.name} are changed.`);
      onClose();
    },
  });
  const problem = save.error instanceof ProblemError ? save.error : undefined;
  const wrong = (name: LimitName) => problem?.at(name);
  return (
    <Dialog
      title={`Limits of ${owner.name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form="limits"
            look="primary"
            busy={save.isPending}
            disabled={Object.keys(changes).length === 0}
          >
            Save the limits
          </Button>
        </>
      }
    >
      <form
        id="limits"
        className={css.fields}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {LIMITS.map(({ name, field, label }) => {
          const { most, isDefault, used } = owner[field];
          const said = wrong(name);
          return (
            <Field
              key={name}
              label={label}
              hint={[
                isDefault ? `By default ${short(most)}` : "Empty: as in the settings",
                used !== null && `${short(used)} now`,
              ]
                .filter(Boolean)
                .join("; ")}
              type="number"
              inputMode="numeric"
              min={0}
              step={1}
              value={texts[name]}
              wrong={said && sentence(said)}
              onChange={(event) => setTexts((now) => ({ ...now, [name]: event.target.value }))}
            />
          );
        })}
        {save.isError && !LIMITS.some(({ name }) => wrong(name)) && (
          <Notice kind="error" title="The limits are not changed.">
            {sentence(save.error.message)}
          </Notice>
        )}
      </form>
    </Dialog>
  );
}
